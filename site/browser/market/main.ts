/** The script of the page. */
const root = document.getElementById('market');
root?.setAttribute('data-ready', 'true');

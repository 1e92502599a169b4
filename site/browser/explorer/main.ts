/** The script of the page. */
const root = document.getElementById('explorer');
root?.setAttribute('data-ready', 'true');

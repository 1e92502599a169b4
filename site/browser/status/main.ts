/** The script of the page. */
const root = document.getElementById('status');
root?.setAttribute('data-ready', 'true');

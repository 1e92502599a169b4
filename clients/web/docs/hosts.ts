/** The names of hosts in examples: a page does not know which service shows it. */

/** Stands for the host of readers. */
export const READ_HOST = 'https://data.example';

/** Stands for the host of writers. A self-hosted service has one host for both. */
export const WRITE_HOST = 'https://write.data.example';

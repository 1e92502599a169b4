/** The addresses in the commands of the documentation. A publisher that knows those of its service puts them there. */

/** Stands for the base URL of readers. */
export const READ_HOST = 'https://data.example';

/** Stands for the base URL of writers. A self-hosted service has one for both. */
export const WRITE_HOST = 'https://write.data.example';

/** Placeholders for addresses in the documentation's commands. A publisher that knows the service's addresses replaces them. */

/** Stands for the base URL of readers. */
export const READ_HOST = 'https://data.example';

/** Stands for the base URL of writers. A self-hosted service has one for both. */
export const WRITE_HOST = 'https://write.data.example';

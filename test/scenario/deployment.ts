/** The addresses and credentials of a deployment that a reader and a writer need. */
export interface Deployment {
  /** Where the public reads are, e.g. `http://127.0.0.1:8787`, without a slash at the end. */
  readonly readBaseUrl: string;
  /** Where the write API is; may be the same. */
  readonly writeBaseUrl: string;
  /** An API key with every scope. */
  readonly operatorKey: string;
}

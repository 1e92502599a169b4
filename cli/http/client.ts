/** The two interfaces of a deployment: public reads without a key, and the write API with one. */
import { randomUUID } from 'node:crypto';
import { CommandError } from '../exit-codes.ts';
import { type GlobalOptions, needKey, type Profile, readProfile } from '../profile.ts';
import { type HttpAnswer, type Patience, type Request, send } from './request.ts';

const JSON_TYPE = 'application/json';

export interface Client {
  readonly profile: Profile;
  /** GETs a public path, such as `/api/v1/markets?cursor=…`. No key is sent. */
  read(path: string, accepts?: readonly number[]): Promise<HttpAnswer>;
  /** Calls the write API. */
  call(call: Call): Promise<HttpAnswer>;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  /** The name of this request: only writes have one. */
  readonly idempotencyKey?: string;
}

export async function openClient(options: GlobalOptions): Promise<Client> {
  const profile = await readProfile(options);
  const patience: Patience = { timeout: options.timeout, patience: options.patience, hasAnswered: false };
  return {
    profile,
    read: (path, accepts = []) => send({ method: 'GET', url: new URL(path, profile.readUrl), accepts }, patience),
    call: async ({ method, path, headers = {}, body, idempotencyKey }) => {
      const request: Request = {
        method,
        url: new URL(path, profile.writeUrl),
        headers: {
          authorization: `Bearer ${needKey(profile, options)}`,
          ...(body === undefined ? {} : { 'content-type': JSON_TYPE }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
      };
      return await send(request, patience).catch((error: unknown) => {
        throw withHint(error, profile, idempotencyKey);
      });
    },
  };
}

/** New for each call. A repeated call has one effect. */
export function newIdempotencyKey(): string {
  return randomUUID();
}

/** Without an answer the effect is unknown, so the person gets the key by which the call can be repeated. */
function withHint(error: unknown, { keySource }: Profile, idempotencyKey: string | undefined): unknown {
  if (!(error instanceof CommandError)) return error;
  const { exit, message, mend, cause } = error;
  const hints = [
    ...(mend === null ? [] : [mend]),
    ...(/answered 401 /.test(message) ? [`The key came from ${keySource}.`] : []),
    ...(exit === 'unreachable' && idempotencyKey !== undefined
      ? [`It may have had its effect. To learn it, repeat the call with --idempotency-key ${idempotencyKey}`]
      : []),
  ];
  return new CommandError(exit, message, hints.join('\n') || null, { cause });
}

/** @throws CommandError if the body is not JSON */
export function jsonOf({ text }: Pick<HttpAnswer, 'text'>): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CommandError(
      'unreachable',
      'The answer is not JSON.',
      'Is the base URL that of a Tidemark service, and does no proxy answer in its place?',
      { cause },
    );
  }
}

/** Errors of the client, as a person reads them, with their exit codes. */
import { mayPass } from '../../clients/typescript/retries.ts';
import { TidemarkError } from '../../clients/typescript/tidemark-error.ts';
import { CommandError } from '../program/exit-codes.ts';

/** Codes of OpenSSL and of Node. */
const CERTIFICATE_FAULT = /CERT|SIGNATURE|SELF_SIGNED|ISSUER|ALTNAME/;

/**
 * @param keySource where the key of a call comes from
 * @throws CommandError `refused` for an answer that will not change; `unreachable` without an answer that settles it
 */
export function toCommandError(error: unknown, keySource?: string): never {
  if (!(error instanceof TidemarkError)) throw error;
  const { status, code, detail, request, errors, requestId, idempotencyKey } = error;
  // An answer of a success that cannot be used settles nothing.
  const exit = mayPass(error) || (status ?? 200) < 300 ? 'unreachable' : 'refused';
  const hints = [
    ...(request === null || status === null ? [] : [detail]),
    ...(code === 'no-answer' ? [hintOf(error)] : []),
    ...errors.map((each) => `${each.pointer || '/'} ${each.code}: ${each.detail}`),
    ...(requestId === null ? [] : [`Request: ${requestId}`]),
    ...(status === 401 && keySource !== undefined ? [`The key came from ${keySource}.`] : []),
    // Without an answer the effect is unknown, so the person gets the key by which the call can be repeated.
    ...(exit === 'unreachable' && idempotencyKey !== null
      ? [
          `The write may have succeeded. To find out, repeat it with --idempotency-key ${idempotencyKey}: it is applied at most once.`,
        ]
      : []),
  ];
  const failure = status === null ? detail : `${status} ${code}`;
  const message = request === null ? detail : `${request} failed: ${failure}`;
  throw new CommandError(exit, `${message}.`, hints.join('\n') || null, { cause: error });
}

function hintOf({ cause }: TidemarkError): string {
  const reason = (cause as { readonly cause?: { readonly code?: string } } | undefined)?.cause?.code ?? '';
  if (reason === 'ECONNREFUSED') {
    return 'Does the server run there? Start one with `tidemark start`, or name another with --url or --profile.';
  }
  if (CERTIFICATE_FAULT.test(reason)) {
    return 'Its certificate is not trusted here. If it is your own: NODE_EXTRA_CA_CERTS=AUTHORITY.pem tidemark …';
  }
  return 'Check the address, the network and its proxy; --timeout and --patience give it more time.';
}

/** Whether a call was answered with this status. */
export function isAnswered(error: unknown, status: number): error is CommandError {
  return error instanceof CommandError && error.cause instanceof TidemarkError && error.cause.status === status;
}

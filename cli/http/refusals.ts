/** Turns errors of the client into messages for a person, with exit codes. */
import { mayPass } from '../../clients/typescript/retries.ts';
import { TidemarkError } from '../../clients/typescript/tidemark-error.ts';
import { CommandError } from '../program/exit-codes.ts';

/** Error codes of OpenSSL and Node. */
const CERTIFICATE_FAULT = /CERT|SIGNATURE|SELF_SIGNED|ISSUER|ALTNAME/;

/**
 * @param keySource the origin of the call's key
 * @throws CommandError `refused` for an answer that will not change; `unreachable` if the outcome is unknown
 */
export function toCommandError(error: unknown, keySource?: string): never {
  if (!(error instanceof TidemarkError)) throw error;
  const { status, code, detail, request, errors, requestId, idempotencyKey } = error;
  // After a successful answer that cannot be used, the outcome is unknown.
  const exit = mayPass(error) || (status ?? 200) < 300 ? 'unreachable' : 'refused';
  const hints = [
    ...(request === null || status === null ? [] : [detail]),
    ...(code === 'no-answer' ? [hintOf(error)] : []),
    ...errors.map((each) => `${each.pointer || '/'} ${each.code}: ${each.detail}`),
    ...(requestId === null ? [] : [`Request: ${requestId}`]),
    ...(status === 401 && keySource !== undefined ? [`The key came from ${keySource}.`] : []),
    // If the outcome is unknown, the message names the idempotency key, with which the call can be repeated.
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

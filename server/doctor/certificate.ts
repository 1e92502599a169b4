/** The certificate of a host: its chain, its name, and its days. */
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { type Diagnosis, diagnose, fault, ok, warning } from './diagnosis.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Certificates of ACME are renewed 30 days before their end. */
const SOON_DAYS = 20;
const RENEW = 'Renew it, and see why it was not renewed by itself: docs/self-hosting.md.';

export async function examineCertificate(
  url: URL,
  timeoutSeconds: number,
  nowMs: number,
): Promise<readonly Diagnosis[]> {
  return await diagnose('certificate', 'Does a server with TLS listen there?', async () => {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // A server name is a name, never an address (RFC 6066 section 3).
    const servername = /^[\d.]+$|:/.test(host) ? '' : host;
    const socket = connect({ host, port: Number(url.port || 443), servername, rejectUnauthorized: false });
    try {
      await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutSeconds * 1000) });
      return judge(socket, host, nowMs);
    } finally {
      socket.destroy();
    }
  });
}

function judge(socket: TLSSocket, host: string, nowMs: number): Diagnosis {
  const { valid_to, issuer } = socket.getPeerCertificate();
  const days = Math.floor((Date.parse(valid_to) - nowMs) / DAY_MS);
  const detail = `of ${issuer?.O ?? issuer?.CN ?? 'nobody'}, ${days} days left, ${socket.getProtocol()}`;
  if (days < 0) return fault('certificate', `ended ${-days} days ago`, RENEW);
  if (!socket.authorized) {
    const hint = `Readers refuse it: install one for ${host}, with its whole chain, of an authority that they know.`;
    return fault('certificate', `${detail}: ${socket.authorizationError}`, hint);
  }
  if (days < SOON_DAYS) return warning('certificate', detail, RENEW);
  return ok('certificate', detail);
}

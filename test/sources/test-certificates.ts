/** A certificate authority that lives as long as a test: X.509 certificates (RFC 5280) in DER (X.690), with node:crypto. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface TestAuthority {
  /** PEM. */
  readonly certificate: string;
  /** A certificate for host names, and its key, in PEM. */
  issue(hosts: readonly string[], validity?: readonly [from: Date, until: Date]): { cert: string; key: string };
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
const COMMON_NAME = '550403';
const BASIC_CONSTRAINTS = '551d13';
const SUBJECT_ALT_NAME = '551d11';

export function testAuthority(): TestAuthority {
  const issuer = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = nameOf('Tidemark test authority');
  const always = [new Date(Date.now() - DAY_MS), new Date(Date.now() + DAY_MS)] as const;
  const isAuthority = extension(BASIC_CONSTRAINTS, sequence(der(0x01, Buffer.of(0xff))));
  return {
    certificate: certificate({ name, publicKey: issuer.publicKey, extensions: [isAuthority], validity: always }),
    issue(hosts, validity = always) {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const names = sequence(...hosts.map((host) => der(0x82, Buffer.from(host))));
      return {
        cert: certificate({
          name: nameOf(hosts[0] ?? ''),
          publicKey: own.publicKey,
          extensions: [extension(SUBJECT_ALT_NAME, names)],
          validity,
        }),
        key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      };
    },
  };

  function certificate(subject: {
    readonly name: Buffer;
    readonly publicKey: KeyObject;
    readonly extensions: readonly Buffer[];
    readonly validity: readonly [Date, Date];
  }): string {
    const body = sequence(
      der(0xa0, der(0x02, Buffer.of(2))),
      der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
      ECDSA_WITH_SHA256,
      name,
      sequence(...subject.validity.map(generalizedTime)),
      subject.name,
      subject.publicKey.export({ type: 'spki', format: 'der' }),
      der(0xa3, sequence(...subject.extensions)),
    );
    const signature = sign('sha256', body, issuer.privateKey);
    const whole = sequence(body, ECDSA_WITH_SHA256, der(0x03, Buffer.concat([Buffer.of(0), signature])));
    return `-----BEGIN CERTIFICATE-----\n${whole.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
  }
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function nameOf(text: string): Buffer {
  return sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from(text)))));
}

function generalizedTime(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value));
}

/** The configuration of the embedded server, from its environment. */
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import {
  DEFAULT_PROJECTIONS,
  PROJECTIONS_EXPECTED,
  type Projection,
  parseProjections,
} from '../../contract/files/projections.ts';
import { publicPath } from '../../contract/files/public-objects.ts';
import { verifierKey } from '../../contract/log/notes.ts';
import { isLogOrigin } from '../../contract/log/origin.ts';
import { type Operator, operatorSchema } from '../../contract/values/operator.ts';
import { waitlistEmailSchema } from '../../contract/values/waitlist.ts';
import { isLoopback } from '../../lambdas/http/network.ts';
import { isInternalOrigin } from '../../mapping/recipe/recipe-url.ts';
import { DEFAULT_DATA_FOLDER } from '../backup/control-socket.ts';
import { isProxy } from '../http/sender.ts';
import { parseWitnesses, type WitnessAddress } from '../loops/witness-client.ts';
import { SettingError, StartError } from '../service/start-error.ts';
import { readGivenSecret, readSourceSecrets } from './given-secret.ts';

/** The bundled samples; the first one is the default. */
export const SAMPLES = ['currencies', 'models'] as const;
export type SampleName = (typeof SAMPLES)[number];

/** The chosen sample. `unsaid`: the default sample, if the folder has published nothing yet. See sample.ts. */
export type SampleSetting = SampleName | 'no' | 'unsaid';

export type EmbeddedConfig = Readonly<ReturnType<typeof readConfig>>;

export interface IssuerConfig {
  /** The `iss` of its tokens, an https URL. */
  readonly issuer: string;
  readonly audience: string;
  /** The URL of its keys; default `.well-known/jwks.json` under the issuer. */
  readonly jwksUri?: string;
  /** The prefix of our scopes in its tokens. */
  readonly scopePrefix?: string;
}

const EARLIEST_MS = Date.parse('2026-01-01T00:00:00Z');

/** Records keep the time of this machine permanently, so a clock that was never set is refused. @throws StartError */
export function checkClock(nowMs: number): void {
  if (nowMs >= EARLIEST_MS) return;
  throw new StartError(`The clock of this machine says ${new Date(nowMs).toISOString()}: set it, then try again.`);
}

export type Environment = { readonly [name: string]: string | undefined };

/** Reads the settings of `SETTINGS_HELP`. @throws SettingError for an invalid value */
export function readConfig(environment: Environment) {
  /** @param parse returns undefined to refuse the text */
  const read = <Value>(
    name: string,
    absent: Value,
    expected: string,
    parse: (text: string) => Value | undefined,
  ): Value => {
    const text = environment[name];
    if (!text) return absent;
    const value = parse(text);
    if (value !== undefined) return value;
    throw new SettingError(`${name} is ${JSON.stringify(text)}: set ${expected}.`);
  };
  /** Reads a list with commas between its parts. */
  const readList = (name: string, expected: string, isPart: (part: string) => boolean): readonly string[] => {
    const parts = (environment[name] ?? '').split(',').flatMap((part) => part.trim() || []);
    const wrong = parts.find((part) => !isPart(part));
    if (wrong === undefined) return parts;
    throw new SettingError(`${name} has ${JSON.stringify(wrong)}: set ${expected}.`);
  };
  // Only a malformed IP address is refused: any other text may be a name in the DNS.
  const host = read('HOST', '127.0.0.1', 'an address, such as 127.0.0.1', (text) =>
    /^[\d.]+$/.test(text) && !isIP(text) ? undefined : text,
  );
  const operator = readOperator(environment);
  const { contact } = operator;
  const metricsPort = read<number | null>('TIDEMARK_METRICS_PORT', null, PORT, portOf);
  return {
    host,
    /** 0 picks a free port. */
    port: read('PORT', 8787, PORT, portOf),
    sample: read<SampleSetting>('TIDEMARK_SAMPLE', 'unsaid', `yes, no or ${SAMPLES.join(', ')}`, (text) =>
      text === 'yes' ? SAMPLES[0] : ([...SAMPLES, 'no', 'unsaid'] as const).find((known) => known === text),
    ),
    /** The folder of the ledger and the objects. */
    dataFolder: readDataFolder(environment),
    /** Another place for the public files. Null: they stay in their place. */
    target: environment.TIDEMARK_TO || null,
    /** The published address for requests for API keys. Null: neither this address nor one of the operator is set. */
    waitlistEmail: read(
      'TIDEMARK_WAITLIST_EMAIL',
      (isMail(contact) && contact) || null,
      'one e-mail address',
      (text) => (isMail(text) ? text : undefined),
    ),
    /** Name and address of the operator, which the pages show to everybody. */
    operator,
    /** The kinds of public files that are published besides the bodies. */
    projections: read<ReadonlySet<Projection>>(
      'TIDEMARK_PROJECTIONS',
      DEFAULT_PROJECTIONS,
      PROJECTIONS_EXPECTED,
      (text) => parseProjections(text) ?? undefined,
    ),
    /** The base URL for readers, without a slash at the end. Some public files contain it. Null: unknown. */
    readBaseUrl: read<string | null>(
      'TIDEMARK_READ_BASE_URL',
      null,
      'the URL where readers find the service, such as https://data.example.com',
      baseUrlOf,
    ),
    /** The number of days that the files of ended uploads stay; null: for ever. */
    uploadsKeptDays: read<number | null>(
      'TIDEMARK_UPLOADS_KEPT_DAYS',
      null,
      'a number of days, or nothing to keep all files',
      (text) => (/^[1-9]\d{0,4}$/.test(text) ? Number(text) : undefined),
    ),
    /** The proxies that are trusted to name the sender of a request. */
    proxies: readList(
      'TIDEMARK_PROXIES',
      'addresses or networks, separated by commas, e.g. 127.0.0.1,10.0.0.0/8',
      isProxy,
    ),
    /** The address of the metrics; null: off. Loopback by default, because the metrics show how busy the service is. */
    metrics:
      metricsPort === null ? null : { host: environment.TIDEMARK_METRICS_HOST || '127.0.0.1', port: metricsPort },
    /**
     * The hours between two verifications of the served files; null: never. At most three weeks: a timer can wait 24 days at
     * most.
     */
    verifyEveryHours: read<number | null>('TIDEMARK_VERIFY_HOURS', 24, 'hours from 1 to 504, or 0 for never', (text) =>
      /^\d{1,3}$/.test(text) && Number(text) <= 504 ? Number(text) || null : undefined,
    ),
    /** The name of the log, for the first start; null: a random one. It never changes. */
    logOrigin: read<string | null>(
      'TIDEMARK_LOG_ORIGIN',
      null,
      'a name such as data.example.com/prices, in lower case, without https://',
      (text) => (isLogOrigin(text) ? text : undefined),
    ),
    /** The private key of the log, used instead of the key in the data folder. Null: not set. */
    logKey: readGivenSecret(environment, 'TIDEMARK_LOG_KEY'),
    /** The verifier key of a server that will continue the log elsewhere; the log announces it. Null: none. */
    nextLogKey: read<string | null>(
      'TIDEMARK_LOG_NEXT_KEY',
      null,
      'a verifier key, as GET /api/v1/log/vkey of the next server shows it',
      vkeyOf,
    ),
    /** The internal hosts from which sources may be fetched, as origins such as `http://prices:8080`. */
    sourceHosts: new Set(
      readList(
        'TIDEMARK_SOURCE_HOSTS',
        'names with scheme and port, separated by commas, e.g. http://prices:8080,https://files.corp.example. No addresses, no paths',
        isInternalOrigin,
      ),
    ),
    /** Secrets of sources, by the name in recipes. */
    sourceSecrets: readSourceSecrets(environment),
    /** Witnesses that cosign the log. */
    witnesses: read<readonly WitnessAddress[]>(
      'TIDEMARK_WITNESSES',
      [],
      'pairs of a verifier key of a cosigner (type 4) and an https URL, with a space between, separated by commas',
      (text) => parseWitnesses(text) ?? undefined,
    ),
    /**
     * Whether the issuer of this process may sign in users for other machines, too. Everybody who can read `issuer-key` can act
     * as every user, so the operator must allow it.
     */
    isLocalIssuerAllowed: isLoopback(host) || environment.TIDEMARK_LOCAL_ISSUER === 'everywhere',
    /** The issuer of user tokens. Null: this process, with its own key, for trials. */
    issuer: readIssuer(environment),
  };
}

const PORT = 'a number from 0 to 65535, where 0 picks a free port';

const portOf = (text: string) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined);

const isMail = (text: string | undefined) => waitlistEmailSchema.safeParse(text).success;

function baseUrlOf(text: string): string | undefined {
  const { protocol = '', search, hash, username, href = '' } = URL.parse(text) ?? {};
  return /^https?:$/.test(protocol) && !search && !hash && !username ? href.replace(/\/$/, '') : undefined;
}

function vkeyOf(text: string): string | undefined {
  try {
    return verifierKey(text).vkey;
  } catch {
    return undefined;
  }
}

/** Empty by default: a page must not name a person without consent. */
function readOperator(environment: Environment): Operator {
  const settings = { name: 'OPERATOR_NAME', contact: 'OPERATOR_CONTACT', licence: 'DATA_LICENCE' } as const;
  const stated = Object.entries(settings).flatMap(([fact, name]) => {
    const text = environment[`TIDEMARK_${name}`];
    if (!text) return [];
    const { success, error } = operatorSchema.safeParse({ [fact]: text });
    if (success) return [[fact, text] as const];
    throw new SettingError(`TIDEMARK_${name} is ${JSON.stringify(text)}: it ${error.issues[0]?.message}.`);
  });
  return Object.fromEntries(stated);
}

function readIssuer(environment: Environment): IssuerConfig | null {
  const issuer = environment.TIDEMARK_ISSUER;
  if (!issuer) return null;
  const audience = environment.TIDEMARK_AUDIENCE;
  if (!audience)
    throw new SettingError('TIDEMARK_ISSUER is set, but not TIDEMARK_AUDIENCE: set the audience of its tokens.');
  const jwksUri = environment.TIDEMARK_JWKS_URI;
  for (const [name, url] of Object.entries({ TIDEMARK_ISSUER: issuer, TIDEMARK_JWKS_URI: jwksUri || issuer })) {
    if (!URL.canParse(url) || !url.startsWith('https://')) {
      throw new SettingError(`${name} is ${JSON.stringify(url)}: set an https URL.`);
    }
  }
  const scopePrefix = environment.TIDEMARK_SCOPE_PREFIX;
  return { issuer, audience, ...(jwksUri ? { jwksUri } : {}), ...(scopePrefix ? { scopePrefix } : {}) };
}

/** @throws SettingError for a folder in a public place: ledger and keys would be public there */
function readDataFolder({ TIDEMARK_DATA }: Environment): string {
  const folder = TIDEMARK_DATA || DEFAULT_DATA_FOLDER;
  if (!existsSync(join(folder, publicPath({ kind: 'snapshot' })))) return folder;
  throw new SettingError(
    `${folder} is published, and a data folder holds keys and personal data: name another data folder with --data or TIDEMARK_DATA, and publish into ${folder} with --to.`,
  );
}

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
import type { SourceSecret } from '../../lambdas/sources/fetch/secrets.ts';
import { isInternalOrigin } from '../../mapping/recipe/recipe-url.ts';
import { isProxy, type Proxies } from '../http/sender.ts';
import { parseWitnesses, type WitnessAddress } from '../loops/witness-client.ts';
import { SettingError, StartError } from '../service/start-error.ts';
import { DEFAULT_DATA_FOLDER } from './address-file.ts';
import { type GivenSecret, readGivenSecret } from './given-secret.ts';
import { readSourceSecrets } from './source-secrets.ts';

/** The bundled samples; the first one is the default. */
export const SAMPLES = ['currencies', 'models'] as const;
export type SampleName = (typeof SAMPLES)[number];

/** The sample that is wanted. `unsaid`: the default one, in a folder that has published nothing yet. See sample.ts. */
export type SampleSetting = SampleName | 'no' | 'unsaid';

export interface EmbeddedConfig {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** The folder of the ledger and the objects. */
  readonly dataFolder: string;
  /** Another folder for the public files. Null: where they are. */
  readonly target: string | null;
  readonly sample: SampleSetting;
  /** The address for requests for API keys; published. */
  /** Null: neither it nor an address of the operator is set. */
  readonly waitlistEmail: string | null;
  /** What the pages say about the operator; published. */
  readonly operator: Operator;
  /** The kinds of public files that are published besides the bodies. */
  readonly projections: ReadonlySet<Projection>;
  /** Where readers find the service, without a slash at the end: some files name it. Null: not said. */
  readonly readBaseUrl: string | null;
  /** How long the files of uploads are kept after their end; null: for good. */
  readonly uploadsKeptDays: number | null;
  /** The proxies that are believed about the sender of a request. */
  readonly proxies: Proxies;
  /**
   * Whether the issuer of this process may sign users in. Everybody who can read `issuer-key` is every user, so other
   * machines are served only if the operator says so.
   */
  readonly isLocalIssuerAllowed: boolean;
  /** How often the server verifies what it serves; null: never. */
  readonly verifyEveryHours: number | null;
  /** Where metrics are served. Null: nowhere. */
  readonly metrics: MetricsConfig | null;
  /** The name of the log, for the first start; null: a random one. It never changes. */
  readonly logOrigin: string | null;
  /** The private key of the log, in place of the data folder's. Null: none is given. */
  readonly logKey: GivenSecret | null;
  /** A verifier key that the log names, because it will sign the log elsewhere. Null: none. */
  readonly nextLogKey: string | null;
  /** Internal hosts that sources may be at, as origins such as `http://prices:8080`. */
  readonly sourceHosts: ReadonlySet<string>;
  /** By the name that recipes give them. */
  readonly sourceSecrets: ReadonlyMap<string, SourceSecret>;
  /** Witnesses that cosign the log. */
  readonly witnesses: readonly WitnessAddress[];
  /** The issuer of user tokens. Null: this process, with its own key, for trials. */
  readonly issuer: IssuerConfig | null;
}

/** An address of their own. */
export interface MetricsConfig {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

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

/** Records keep the time of the machine for good, so an unset clock is refused. @throws StartError */
export function checkClock(nowMs: number): void {
  if (nowMs >= EARLIEST_MS) return;
  throw new StartError(`The clock of this machine says ${new Date(nowMs).toISOString()}: set it, then try again.`);
}

export type Environment = { readonly [name: string]: string | undefined };

/** Reads the settings of `SETTINGS_HELP`. @throws SettingError for an invalid value */
export function readConfig(environment: Environment): EmbeddedConfig {
  const host = environment.HOST || '127.0.0.1';
  // Other names may be in the DNS soon.
  if (/^[\d.]+$/.test(host) && !isIP(host))
    throw new SettingError(`HOST is ${host}: set an address, such as 127.0.0.1.`);
  const port = readPort('PORT', environment.PORT || '8787');
  const operator = readOperator(environment);
  const { contact } = operator;
  const isMail = waitlistEmailSchema.safeParse(contact).success;
  const waitlistEmail = environment.TIDEMARK_WAITLIST_EMAIL || (isMail && contact) || null;
  if (waitlistEmail !== null && !waitlistEmailSchema.safeParse(waitlistEmail).success) {
    throw new SettingError(`TIDEMARK_WAITLIST_EMAIL is ${JSON.stringify(waitlistEmail)}: set one e-mail address.`);
  }
  const keptDays = environment.TIDEMARK_UPLOADS_KEPT_DAYS;
  if (keptDays && !/^[1-9]\d{0,4}$/.test(keptDays)) {
    throw new SettingError(
      `TIDEMARK_UPLOADS_KEPT_DAYS is ${JSON.stringify(keptDays)}: set a number of days, or nothing to keep all files.`,
    );
  }
  const proxies = (environment.TIDEMARK_PROXIES ?? '').split(',').flatMap((proxy) => proxy.trim() || []);
  const wrong = proxies.find((proxy) => !isProxy(proxy));
  if (wrong !== undefined) {
    throw new SettingError(
      `TIDEMARK_PROXIES has ${JSON.stringify(wrong)}: set addresses or networks, separated by commas, e.g. 127.0.0.1,10.0.0.0/8.`,
    );
  }
  return {
    host,
    port,
    sample: readSample(environment.TIDEMARK_SAMPLE || 'unsaid'),
    dataFolder: readDataFolder(environment),
    target: environment.TIDEMARK_TO || null,
    waitlistEmail,
    operator,
    projections: readProjections(environment),
    readBaseUrl: readReadBaseUrl(environment),
    uploadsKeptDays: keptDays ? Number(keptDays) : null,
    proxies,
    metrics: readMetrics(environment),
    verifyEveryHours: readVerifyHours(environment),
    logOrigin: readLogOrigin(environment),
    logKey: readGivenSecret(environment, 'TIDEMARK_LOG_KEY'),
    nextLogKey: readNextLogKey(environment),
    sourceHosts: readSourceHosts(environment),
    sourceSecrets: readSourceSecrets(environment),
    witnesses: readWitnesses(environment),
    isLocalIssuerAllowed: isLoopback(host) || environment.TIDEMARK_LOCAL_ISSUER === 'everywhere',
    issuer: readIssuer(environment),
  };
}

/** Nothing is said by default: a page must not name a person who did not ask for it. */
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

function readPort(name: string, port: string): number {
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) return Number(port);
  throw new SettingError(
    `${name} is ${JSON.stringify(port)}: set a number from 0 to 65535, where 0 picks a free port.`,
  );
}

function readProjections({ TIDEMARK_PROJECTIONS: text }: Environment): ReadonlySet<Projection> {
  const projections = text ? parseProjections(text) : DEFAULT_PROJECTIONS;
  if (projections !== null) return projections;
  throw new SettingError(`TIDEMARK_PROJECTIONS is ${JSON.stringify(text)}: set ${PROJECTIONS_EXPECTED}.`);
}

function readReadBaseUrl({ TIDEMARK_READ_BASE_URL: text }: Environment): string | null {
  if (!text) return null;
  const { protocol = '', search, hash, username, href = '' } = URL.canParse(text) ? new URL(text) : {};
  if (/^https?:$/.test(protocol) && !search && !hash && !username) return href.replace(/\/$/, '');
  throw new SettingError(
    `TIDEMARK_READ_BASE_URL is ${JSON.stringify(text)}: set the URL where readers find the service, such as https://data.example.com.`,
  );
}

/** Loopback, unless another address is named: metrics tell strangers how busy a service is. */
function readMetrics(environment: Environment): MetricsConfig | null {
  const { TIDEMARK_METRICS_PORT: port, TIDEMARK_METRICS_HOST: host } = environment;
  return port ? { host: host || '127.0.0.1', port: readPort('TIDEMARK_METRICS_PORT', port) } : null;
}

/** At most three weeks: timers cannot wait longer than 24 days. */
function readVerifyHours({ TIDEMARK_VERIFY_HOURS: hours }: Environment): number | null {
  if (!hours) return 24;
  if (/^\d{1,3}$/.test(hours) && Number(hours) <= 504) return Number(hours) || null;
  throw new SettingError(`TIDEMARK_VERIFY_HOURS is ${JSON.stringify(hours)}: set hours from 1 to 504, or 0 for never.`);
}

function readLogOrigin({ TIDEMARK_LOG_ORIGIN: origin }: Environment): string | null {
  if (!origin) return null;
  if (isLogOrigin(origin)) return origin;
  throw new SettingError(
    `TIDEMARK_LOG_ORIGIN is ${JSON.stringify(origin)}: set a name such as data.example.com/prices, in lower case, without https://.`,
  );
}

function readNextLogKey({ TIDEMARK_LOG_NEXT_KEY: vkey }: Environment): string | null {
  if (!vkey) return null;
  try {
    return verifierKey(vkey).vkey;
  } catch (cause) {
    throw new SettingError(
      `TIDEMARK_LOG_NEXT_KEY is ${JSON.stringify(vkey)}: set a verifier key, as GET /api/v1/log/vkey of the next server shows it.`,
      { cause },
    );
  }
}

function readSourceHosts({ TIDEMARK_SOURCE_HOSTS: text = '' }: Environment): ReadonlySet<string> {
  const origins = text.split(',').flatMap((origin) => origin.trim() || []);
  const wrong = origins.find((origin) => !isInternalOrigin(origin));
  if (wrong === undefined) return new Set(origins);
  throw new SettingError(
    `TIDEMARK_SOURCE_HOSTS has ${JSON.stringify(wrong)}: set names with scheme and port, separated by commas, e.g. http://prices:8080,https://files.corp.example. No addresses, no paths.`,
  );
}

function readWitnesses({ TIDEMARK_WITNESSES: text }: Environment): readonly WitnessAddress[] {
  const witnesses = text ? parseWitnesses(text) : [];
  if (witnesses !== null) return witnesses;
  throw new SettingError(
    `TIDEMARK_WITNESSES is ${JSON.stringify(text)}: set pairs of a verifier key of a cosigner (type 4) and an https URL, with a space between, separated by commas.`,
  );
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

/** `yes` is the default sample. */
function readSample(text: string): SampleSetting {
  if (text === 'yes') return SAMPLES[0];
  const setting = ([...SAMPLES, 'no', 'unsaid'] as const).find((known) => known === text);
  if (setting !== undefined) return setting;
  throw new SettingError(`TIDEMARK_SAMPLE is ${JSON.stringify(text)}: set yes, no or ${SAMPLES.join(', ')}.`);
}

/** Ledger and keys would be public there. */
function readDataFolder({ TIDEMARK_DATA }: Environment): string {
  const folder = TIDEMARK_DATA || DEFAULT_DATA_FOLDER;
  if (!existsSync(join(folder, publicPath({ kind: 'snapshot' })))) return folder;
  throw new SettingError(
    `${folder} is published, and a data folder holds keys and personal data: name another data folder with --data or TIDEMARK_DATA, and publish into ${folder} with --to.`,
  );
}

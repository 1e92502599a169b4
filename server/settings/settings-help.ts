/** The prefix of secrets that recipes name. */
export const SECRET_PREFIX = 'TIDEMARK_SECRET_';

/** The settings of the server, as its help shows them. Any other setting counts as misspelt. */
export const SETTINGS_HELP = `
Settings in the environment:
  HOST, PORT, TIDEMARK_DATA, TIDEMARK_TO  the same as --host, --port, --data, --to
  AWS_ENDPOINT_URL_S3, AWS_REGION, AWS_PROFILE, …  of a bucket (--to s3://BUCKET/PREFIX), as AWS tools take them
  TIDEMARK_SAMPLE=no            the same as --no-sample
  TIDEMARK_WAITLIST_EMAIL=MAIL  the public address for requests for API keys
  TIDEMARK_OPERATOR_NAME=NAME   who runs this service, on every page; also TIDEMARK_OPERATOR_CONTACT=MAIL|URL
  TIDEMARK_DATA_LICENCE=NAME    the licence of the data, on every page: a name such as CC-BY-4.0, or a URL
  TIDEMARK_UPLOADS_KEPT_DAYS=N  days to keep uploaded files after their end (default: for good)
  TIDEMARK_METRICS_PORT=N       serve /metrics on this port of 127.0.0.1, or of TIDEMARK_METRICS_HOST
  TIDEMARK_PROJECTIONS=LIST     files that are published besides the bodies: all, none, or some of log,
                                history-files, latest, recent, market-pages, feeds, exports, compat (the default),
                                market-feeds, badges, embeds
  TIDEMARK_READ_BASE_URL=URL    where readers find the service, for files that name it
  TIDEMARK_VERIFY_HOURS=N       how often the server verifies what it serves (default 24; 0: never)
  TIDEMARK_LOG_ORIGIN=NAME      the name of the signed log, for the first start, such as
                                data.example.com/prices (default: a random one)
  TIDEMARK_LOG_KEY=KEY          the private key of the log, in place of log-key of the data folder; or
                                TIDEMARK_LOG_KEY_FILE, a file that holds it
  TIDEMARK_LOG_NEXT_KEY=KEY     the key with which another server will continue the log
  TIDEMARK_WITNESSES=LIST       witnesses that cosign the log: pairs of a key and a URL
  TIDEMARK_SOURCE_HOSTS=LIST    internal hosts that sources may use, with scheme and port, such as
                                http://prices:8080
  TIDEMARK_SECRET_NAME=HOST VALUE  a secret that recipes name as \${NAME}, and the one host it may go to; or
                                TIDEMARK_SECRET_NAME_FILE, a file that holds both
  TIDEMARK_LOG=json|text|quiet  log lines for programs, for people (the default), or faults only
  TIDEMARK_PROXIES=LIST         trusted proxies, as addresses or networks: their X-Forwarded-For names the
                                sender of a request
  TIDEMARK_LOCAL_ISSUER=everywhere  allow tokens of \`tidemark token\` from other machines
  TIDEMARK_ISSUER=URL           an OIDC issuer for users; with TIDEMARK_AUDIENCE, and perhaps
                                TIDEMARK_JWKS_URI and TIDEMARK_SCOPE_PREFIX`;

const PREFIX = 'TIDEMARK_';
/** The settings of the server, and those of runs, which also keep their state. */
const SETTINGS = [
  ...(SETTINGS_HELP.match(new RegExp(`(?<=${PREFIX})[A-Z_]+`, 'g')) ?? []),
  ...['STATE_KEY', 'STATE_KEY_FILE'],
].sort();
/** The settings of the other commands, which may be set in the same shell. */
const OTHERS = ['CONFIG', 'KEY', 'KEY_FILE', 'PROFILE', 'URL', 'WRITE_URL'];
/**
 * The least number of first letters that a misspelt name shares with a setting. With fewer, the variable may belong to another
 * program.
 */
const LETTERS_IN_COMMON = 3;

/**
 * A warning for each variable of the environment that Tidemark does not read, and whose name resembles a setting. It is not an
 * error, because another version may know the setting.
 */
export function misspeltSettings(environment: NodeJS.ProcessEnv): readonly string[] {
  return Object.keys(environment).flatMap((variable) => {
    const name = variable.startsWith(PREFIX) ? variable.slice(PREFIX.length) : '';
    if (name === '' || variable.startsWith(SECRET_PREFIX) || SETTINGS.includes(name) || OTHERS.includes(name))
      return [];
    const [nearest = ''] = SETTINGS.toSorted((one, other) => lettersInCommon(other, name) - lettersInCommon(one, name));
    if (lettersInCommon(nearest, name) < LETTERS_IN_COMMON) return [];
    return [`Unknown setting ${variable}, ignored. Did you mean ${PREFIX}${nearest}?`];
  });
}

function lettersInCommon(setting: string, name: string): number {
  let count = 0;
  while (count < setting.length && setting[count] === name[count]) count++;
  return count;
}

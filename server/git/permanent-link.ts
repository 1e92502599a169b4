/** The public address of one version of a file, at hosts that keep every commit. */

const HOSTS: readonly { readonly pattern: RegExp; readonly raw: string }[] = [
  { pattern: /^(?:https:\/\/|ssh:\/\/git@|git@)(github\.com)[/:]([\w.-]+\/[\w.-]+)$/, raw: 'raw' },
  { pattern: /^(?:https:\/\/|ssh:\/\/git@|git@)(gitlab\.com)[/:]([\w.-]+(?:\/[\w.-]+)+)$/, raw: '-/raw' },
];

/** @param remote as git knows it. Null: it is no repository of a host that is known, such as a folder */
export function permanentLink(remote: string, path: string): ((commit: string) => string) | null {
  for (const { pattern, raw } of HOSTS) {
    const [, host, name] = pattern.exec(remote.replace(/(\.git)?\/?$/, '')) ?? [];
    if (host === undefined || name === undefined || name.split('/').some((part) => /^\.+$/.test(part))) continue;
    const file = path.split('/').map(encodeURIComponent).join('/');
    return (commit) => `https://${host}/${name}/${raw}/${commit}/${file}`;
  }
  return null;
}

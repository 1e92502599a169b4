/** Repositories with a past: one commit a version, by `git fast-import`. */
import { execFileSync } from 'node:child_process';
import { AUTHOR } from './repository.ts';

export interface GitVersion {
  /** The files that it changes; null: it removes the file. */
  readonly files: Readonly<Record<string, string | null>>;
  /** The committer's time: RFC 3339. */
  readonly at: string;
}

/** A bare repository, whose branch main has these commits. Their ids. */
export function makeGitRepository(folder: string, versions: Iterable<GitVersion>): readonly string[] {
  const git = (words: readonly string[], input = '') =>
    execFileSync('git', words, { input, env: { ...process.env, ...AUTHOR }, maxBuffer: 1 << 28 }).toString();
  git(['init', '--quiet', '--bare', '--initial-branch=main', folder]);
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  let input = '';
  let mark = 0;
  for (const { files, at } of versions) {
    mark += 1;
    const when = `job <job@job.example> ${Math.floor(Date.parse(at) / 1000)} +0000`;
    input += `commit refs/heads/main\nmark :${mark}\nauthor ${when}\ncommitter ${when}\n${data('prices')}`;
    for (const [path, text] of Object.entries(files)) {
      input += text === null ? `D ${path}\n` : `M 100644 inline ${path}\n${data(text)}`;
    }
  }
  git(['-C', folder, 'fast-import', '--quiet', '--force'], input);
  return git(['-C', folder, 'log', '--reverse', '--format=%H', 'main']).trim().split('\n');
}

/** The options that name the past versions of a list, for `tidemark run` and `tidemark ingest`. */
import type { Command } from 'commander';
import { CommandError } from '../program/exit-codes.ts';

export interface GitFlags {
  readonly git?: string;
  readonly path?: string;
  readonly recipe?: string;
}

export interface GitPast {
  /** An https URL, or a folder with a repository. */
  readonly repository: string;
  /** The path of the file, from the root of the repository. */
  readonly path: string;
  /** The name of a source, the path of a recipe's file, or the name of a shipped recipe. */
  readonly recipe: string;
}

export function addGitOptions(command: Command): Command {
  return command
    .option(
      '--git <repository>',
      'take in the past of a list: each commit of --path, by --recipe, from a folder or https URL',
    )
    .option('--path <file>', 'the file in the repository of --git')
    .option('--recipe <name>', 'the recipe of the list: of a source, a file, or a shipped recipe');
}

/** Null: none of the options is given. @throws CommandError `usage` if only some of them are */
export function gitOf({ git, path, recipe }: GitFlags): GitPast | null {
  const given = [git, path, recipe].filter((option) => option !== undefined);
  if (given.length === 0) return null;
  if (git !== undefined && path !== undefined && recipe !== undefined) return { repository: git, path, recipe };
  throw new CommandError('usage', '--git, --path and --recipe belong together.');
}

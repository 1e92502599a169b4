/** Where the tools are, for the tests. */
import { beforeEach } from 'vitest';
import { TOOLS_VARIABLE, type ToolFolders, type ToolName } from './installations.ts';

/**
 * The folder of a tool's installation, for a test file that is about it. Where the tool is missing, every test of the
 * file is skipped with the reason, and the folder does not exist.
 */
export function toolFolder(name: ToolName): string {
  const folders = JSON.parse(process.env[TOOLS_VARIABLE] ?? '{}') as ToolFolders;
  const state = folders[name] ?? { missing: 'only `npm run test:tools` installs it' };
  if ('folder' in state) return state.folder;
  beforeEach((context) => context.skip(`no ${name}: ${state.missing}`));
  return '/nonexistent';
}

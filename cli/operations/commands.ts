/** A command for each operation without a hand-written one. Its options and help are derived from the operation's row. */
import type { Command } from 'commander';
import type { OperationDefinition } from '../../contract/operations/operation.ts';
import { type OperationId, operationOf } from '../../contract/operations/operations.ts';
import { subjectSchema } from '../../contract/operations/resources.ts';
import { openClient } from '../http/client.ts';
import { askFirst } from '../program/ask-first.ts';
import { CommandError } from '../program/exit-codes.ts';
import { itemLimit } from '../program/numbers.ts';
import type { GlobalOptions } from '../program/profile.ts';
import { type Field, fieldsOf } from './fields.ts';
import { bodyOfOptions, isList, runOperation } from './run-operation.ts';
import { CONSEQUENCES, GENERATED, GROUPS, MORE_EXAMPLES, VERBS } from './verbs.ts';

interface OperationFlags extends GlobalOptions {
  readonly body?: string;
  readonly ifMatch?: string;
  readonly create?: boolean;
  readonly idempotencyKey?: string;
  readonly limit?: number;
  readonly yes?: boolean;
}

export function addOperationCommands(program: Command): void {
  const groups = new Map(
    Object.entries(GROUPS).map(([name, description]) => [
      name,
      program.command(name).description(description).helpCommand(false),
    ]),
  );
  for (const id of GENERATED) {
    const [group = '', verb] = VERBS[id].split(' ');
    addCommand(verb === undefined ? program : (groups.get(group) as Command), verb ?? group, id);
  }
}

function addCommand(parent: Command, verb: string, id: OperationId): void {
  const operation = operationOf(id);
  const { summary, description = '', scopes, method, path, query, body, precondition } = operation;
  const names = Object.keys(operation.params?.shape ?? {});
  const command = parent.command(verb).description(summary);
  for (const name of names) command.argument(`<${name}>`);
  const queryFields = query === undefined ? [] : fieldsOf(query).filter(({ name }) => name !== 'cursor');
  const bodyFields = body === undefined ? [] : fieldsOf(body);
  for (const { option, opposite } of [...queryFields, ...bodyFields]) {
    command.addOption(option);
    if (opposite !== null) command.addOption(opposite);
  }
  if (body !== undefined) command.option('--body <json>', 'the whole body: JSON, @FILE, or - for standard input');
  if (precondition !== undefined) command.option('--if-match <revision>', 'only if this is still its revision');
  if (precondition === 'if-match-or-none-match') command.option('--create', 'only if it does not exist yet');
  if (method !== 'GET') command.option('--idempotency-key <key>', 'repeat an earlier call');
  if (isList(operation)) command.option('--limit <n>', 'at most this many items', itemLimit);
  const consequence = CONSEQUENCES[id];
  if (consequence !== undefined) command.option('--yes', 'do not ask first');
  const scope = scopes === null || scopes.length === 0 ? 'any key' : scopes.join(' or ');
  const words = exampleWords(operation);
  const example = `tidemark ${VERBS[id]} ${words}`.trimEnd();
  const file = words.includes(BODY_FILE)
    ? `\n\nbody.json:\n${JSON.stringify(operation.example.body, null, 2).replaceAll(/^/gm, '  ')}`
    : '';
  command.addHelpText(
    'after',
    `\n${description}${description && '\n'}${method} ${path} (${scope})\n\nExample:\n  ${example}${file}${MORE_EXAMPLES[id] ?? ''}`,
  );
  command.action(async (...words: unknown[]) => {
    const options = command.optsWithGlobals<OperationFlags>();
    const flags = options as unknown as Readonly<Record<string, unknown>>;
    // A missing precondition is told first: with --create, nothing is reset.
    const headers = preconditionOf(operation, options);
    if (body !== undefined && options.body === undefined) refuseGaps(operation, bodyFields, flags);
    const params = Object.fromEntries(names.map((name, index) => [name, words[index] as string]));
    refuseSubject(params.subject);
    const call = {
      params,
      query: given(queryFields, flags),
      body: body === undefined ? null : await bodyOfOptions(options.body, given(bodyFields, flags)),
      headers,
      idempotencyKey: options.idempotencyKey,
      limit: options.limit ?? Number.POSITIVE_INFINITY,
    };
    const client = await openClient(options);
    if (consequence !== undefined && !options.yes) {
      const what = [VERBS[id], ...names.map((name) => call.params[name]), call.body?.subject].join(' ').trimEnd();
      await askFirst(`tidemark ${what}, at ${client.profile.writeUrl.origin}: ${consequence}`);
    }
    await runOperation(client, operation, call, options.json === true);
  });
}

/** The service answers a path of no possible subject like one of an absent resource, so its form is told here. */
function refuseSubject(subject: string | undefined): void {
  if (subject === undefined) return;
  const [issue] = subjectSchema.safeParse(subject).error?.issues ?? [];
  if (issue !== undefined) throw new CommandError('usage', `The subject ${JSON.stringify(subject)} ${issue.message}.`);
}

function given(fields: readonly Field[], flags: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    fields.flatMap(({ name, option, opposite, isStated }) => {
      const value = flags[option.attributeName()];
      if (value !== undefined) return [[name, value]];
      return isStated && opposite !== null && flags[opposite.attributeName()] ? [[name, null]] : [];
    }),
  );
}

/**
 * @throws CommandError if a left-out option would change the resource: a value that must be stated, or one that would be reset
 */
function refuseGaps(
  { method }: OperationDefinition,
  fields: readonly Field[],
  flags: Readonly<Record<string, unknown>>,
): void {
  const said = given(fields, flags);
  const left = fields.filter(({ name }) => !(name in said));
  const unstated = left.find(({ isStated }) => isStated);
  if (unstated !== undefined) {
    throw new CommandError('usage', `Give ${unstated.option.flags} or ${unstated.opposite?.flags}.`);
  }
  if (method !== 'PUT' || flags.create) return;
  const reset = left.filter(({ initial }) => initial !== undefined);
  if (reset.length === 0) return;
  const options = reset.map(({ option }) => option.long).join(', ');
  const members = Object.keys(said).length === 0 ? '' : `${JSON.stringify(said).slice(1, -1)},`;
  throw new CommandError(
    'usage',
    `This replaces the whole resource, and would reset ${options}: state the value.`,
    `With its default: --body '{${members}${reset.map(({ name, initial }) => `"${name}":${JSON.stringify(initial)}`).join(',')}}'`,
  );
}

function preconditionOf({ precondition }: OperationDefinition, { ifMatch, create }: OperationFlags) {
  if (ifMatch !== undefined && create) throw new CommandError('usage', 'Give --if-match or --create, not both.');
  if (create) return { 'if-none-match': '*' };
  if (ifMatch !== undefined) return { 'if-match': /^\d+$/.test(ifMatch) ? `"${ifMatch}"` : ifMatch };
  if (precondition === 'if-match' || precondition === 'if-match-or-none-match') {
    const orCreate = precondition === 'if-match' ? '' : ' or --create';
    const hint = 'Give the revision that you have read. This prevents overwriting somebody else’s change.';
    throw new CommandError('usage', `This needs --if-match REVISION${orCreate}.`, hint);
  }
  return {};
}

const BODY_FILE = '@body.json';

function exampleWords({ params, query, body, precondition, example }: OperationDefinition): string {
  const quote = (value: unknown) => (/^[\w./:@,-]+$/.test(String(value)) ? String(value) : `'${String(value)}'`);
  const words = Object.keys(params?.shape ?? {}).map((name) => quote(example.params?.[name]));
  const optionOf = (fields: readonly Field[], values: Readonly<Record<string, unknown>>) =>
    fields.flatMap(({ name, option }) => {
      const value = values[name];
      if (value === undefined || value === null || value === false) return [];
      return [typeof value === 'boolean' ? `${option.long}` : `${option.long} ${quote(value)}`];
    });
  words.push(...optionOf(query === undefined ? [] : fieldsOf(query), example.query ?? {}));
  const sent = (example.body ?? {}) as Readonly<Record<string, unknown>>;
  const fields = body === undefined ? [] : fieldsOf(body);
  const isSimple = Object.entries(sent).every(([name, value]) => {
    const isKnown = fields.some((field) => field.name === name);
    return (
      isKnown &&
      (typeof value !== 'object' || (Array.isArray(value) && value.every((each) => typeof each === 'string')))
    );
  });
  if (Object.keys(sent).length > 0) words.push(...(isSimple ? optionOf(fields, sent) : [`--body ${BODY_FILE}`]));
  if (precondition === 'if-match') words.push('--if-match 1');
  if (precondition === 'if-match-or-none-match') words.push('--create');
  return words.join(' ');
}

/** The templates of deployments. Those that several files read are made once in a run of tests: that takes seconds. */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { madeOnce } from '../made-once.ts';
import { deployed, ELSEWHERE, MINIMAL, SECOND_REGION, type StackName, stackOf, WITH_OPTIONS } from './synthesised.ts';

const SHARED: ReadonlyMap<string, object> = new Map(
  [MINIMAL, WITH_OPTIONS, ELSEWHERE, SECOND_REGION].map((context) => [JSON.stringify(context), context]),
);
const fileOf = (key: string, stack: string) => `${[...SHARED.keys()].indexOf(key)}-${stack}.json`;

const made = await madeOnce('templates', async (folder) => {
  await mkdir(folder);
  for (const [key, context] of SHARED) {
    for (const stack of deployed(context).node.children.filter(Stack.isStack)) {
      await writeFile(join(folder, fileOf(key, stack.node.id)), JSON.stringify(Template.fromStack(stack).toJSON()));
    }
  }
});

const templates = new Map<string, Template>();

/** The templates of one deployment, each read or made once in a process. */
export function synthesised(context: object = MINIMAL): (name: StackName) => Template {
  const key = JSON.stringify(context);
  const make = (name: StackName) =>
    SHARED.has(key)
      ? Template.fromJSON(JSON.parse(readFileSync(join(made, fileOf(key, `tidemark-${name}`)), 'utf8')))
      : Template.fromStack(stackOf(deployed(context), name));
  return (name) => {
    const template = templates.get(key + name) ?? make(name);
    templates.set(key + name, template);
    return template;
  };
}

/** `tidemark mapping`: drafts a mapping for a file, and shows the records that it makes. */
import type { Command } from 'commander';
import type { GlobalOptions } from '../program/profile.ts';

export function addMappingCommands(program: Command): void {
  const mapping = program
    .command('mapping')
    .description('mappings of CSV files and JSON documents to records')
    .helpCommand(false);

  mapping
    .command('init')
    .description('look at a CSV file or JSON document, and print a mapping with comments to begin with')
    .argument('<file>', 'the file; perhaps compressed')
    .addHelpText('after', '\nExample:\n  tidemark mapping init prices.csv > prices.mapping.jsonc')
    .action(async (path: string) => {
      const { printBegunMapping } = await import('./begin.ts');
      await printBegunMapping(path);
    });

  mapping
    .command('check')
    .description('tell what a mapping makes of a file, without sending anything; ends with 4 if a row is refused')
    .argument('<mapping>', 'the mapping, or the recipe of a source')
    .argument('<file>', 'the CSV file or JSON document; - is standard input; it may also be named first')
    .addHelpText(
      'after',
      '\nExample:\n  tidemark mapping check prices.mapping.jsonc prices.csv\n  tidemark mapping check mapping/recipes/ecb-history.json eurofxref-hist.csv',
    )
    .action(async (first: string, second: string, _, command: Command) => {
      const [{ printMappingCheck }, { looksLikeMapping }] = await Promise.all([
        import('./check.ts'),
        import('./mapping-file.ts'),
      ]);
      // `ingest` has the file first.
      const isSwapped = !looksLikeMapping(first) && looksLikeMapping(second);
      const [mappingPath, path] = isSwapped ? [second, first] : [first, second];
      await printMappingCheck(mappingPath, path, command.optsWithGlobals<GlobalOptions>());
    });
}

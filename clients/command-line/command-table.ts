// Command table: the commands of `heliograph`, with the options of each command; help and completion read it.
import type { Command, Option } from './command-form.ts';
import { samples } from './delete-samples.ts';
import { devices, query, summarize, tail, why } from './device-commands.ts';
import { expected, forecast } from './expected-values.ts';
import { backfill, exportDocument } from './file-commands.ts';
import { importFiles } from './import-command.ts';
import { types } from './recalculate-samples.ts';

export const commands: Readonly<Record<string, Command>> = {
  devices,
  query,
  summarize,
  expected,
  forecast,
  tail,
  why,
  backfill,
  export: exportDocument,
  import: importFiles,
  samples,
  types,
};

/** Options of every command. */
export const commonOptions: Readonly<Record<string, Option>> = {
  url: {
    type: 'string',
    value: 'URL',
    help: 'platform URL (default: HELIOGRAPH_URL, then the saved sign-in)',
  },
  key: {
    type: 'string',
    value: 'API_KEY',
    help: 'API key (default: HELIOGRAPH_API_KEY, then the saved sign-in)',
  },
  json: { type: 'boolean', help: 'print newline-delimited JSON' },
  help: { type: 'boolean', help: 'show help' },
};

/** Commands that this table does not run, for help and completion. */
export const otherCommands: Readonly<Record<string, string>> = {
  'sign-in': 'save the platform URL and an API key',
  'sign-out': 'remove the saved credentials',
  completion: 'print the completion for bash or zsh',
  verify: 'check the data folder of a stopped platform on this machine',
  migrate: 'move the records of a stopped platform on this machine',
};

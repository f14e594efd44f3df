// Command table: the commands of `heliograph`, with the options of each command; help and completion read it.
import type { Command, Option } from './command-form.ts';
import { devices, query, tail } from './device-commands.ts';
import { backfill, exportDocument } from './file-commands.ts';
import { importFiles } from './import-command.ts';

export const commands: Readonly<Record<string, Command>> = {
  devices,
  query,
  tail,
  backfill,
  export: exportDocument,
  import: importFiles,
};

/** Options of every command. */
export const commonOptions: Readonly<Record<string, Option>> = {
  url: {
    type: 'string',
    value: 'URL',
    help: 'the platform; else HELIOGRAPH_URL or that of sign-in',
  },
  key: { type: 'string', value: 'API_KEY', help: 'else HELIOGRAPH_API_KEY or that of sign-in' },
  json: { type: 'boolean', help: 'JSON, one value a line' },
  help: { type: 'boolean', help: 'this help' },
};

/** Commands that this table does not run, for help and completion. */
export const otherCommands: Readonly<Record<string, string>> = {
  'sign-in': 'save the platform and an API key for later commands',
  'sign-out': 'remove them',
  completion: 'print the completion for bash or zsh',
  verify: 'check the data folder of a stopped platform on this machine',
  migrate: 'move the records of a stopped platform on this machine',
};

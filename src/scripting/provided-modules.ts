// The modules that scripts may import: two date modules, both in the range ^2.4.0 (interface 2.10, contract 15).
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

interface ProvidedModule {
  /** Its build for browsers, one file that sets one global. */
  readonly file: string;
  readonly global: string;
  /** What can be imported by name; `default` and the namespace are the module itself. */
  readonly exports: readonly string[];
}

export const providedModules = {
  luxon: {
    file: '../global/luxon.min.js',
    global: 'luxon',
    exports: [
      'DateTime',
      'Duration',
      'FixedOffsetZone',
      'IANAZone',
      'Info',
      'Interval',
      'InvalidZone',
      'Settings',
      'SystemZone',
      'VERSION',
      'Zone',
    ],
  },
  moment: {
    file: 'min/moment.min.js',
    global: 'moment',
    exports: ['duration', 'invalid', 'isDate', 'isDuration', 'isMoment', 'locale', 'parseZone', 'unix', 'utc'],
  },
} as const satisfies Record<string, ProvidedModule>;

export type ProvidedModuleName = keyof typeof providedModules;

export function isProvidedModule(name: string): name is ProvidedModuleName {
  return Object.hasOwn(providedModules, name);
}

/** An expression that evaluates the module in the guest and yields what it exports. */
export function moduleExpression(name: ProvidedModuleName): string {
  const { file, global } = providedModules[name];
  const main = createRequire(import.meta.url).resolve(name);
  const source = readFileSync(join(dirname(main), file), 'utf8');
  // The build must find neither a module loader nor the global object of its host, so it sets a variable of this function.
  return `(function () { var exports, module, define; ${source}\n; return typeof ${global} === 'undefined' ? this.${global} : ${global}; }).call({})`;
}

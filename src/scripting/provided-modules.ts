// The modules that scripts may import: two date modules, both in the range ^2.4.0 (interface 2.10, contract 15).
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export const providedModules = {
  luxon: {
    file: '../global/luxon.min.js',
    global: 'luxon',
    warmUp: `
      const time = m.DateTime.fromISO('2026-03-01T10:00:00.000Z', { zone: 'utc' });
      [time.toISO(), time.toJSDate(), time.toFormat('yyyy-LL-dd HH:mm:ss'), m.DateTime.now().toISO()];
      [m.DateTime.fromMillis(0).toLocal().plus({ days: 1 }).startOf('day').diff(time, 'hours').toObject()];`,
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
    warmUp: `const time = m('2026-03-01T10:00:00.000Z'); [time.toISOString(), time.format(), time.add(1, 'day').valueOf()];`,
    exports: [
      'duration',
      'invalid',
      'isDate',
      'isDuration',
      'isMoment',
      'locale',
      'parseZone',
      'unix',
      'utc',
    ],
  },
} as const satisfies Record<
  string,
  {
    /** Its build for browsers, one file that sets one global. */
    readonly file: string;
    readonly global: string;
    /** Uses of the module that fill its own caches before the image is taken. */
    readonly warmUp: string;
    /** What can be imported by name; `default` and the namespace are the module itself. */
    readonly exports: readonly string[];
  }
>;

export type ProvidedModuleName = keyof typeof providedModules;

/** What an image may have beyond the base image: imported modules, and the global Buffer. */
export type GuestModule = ProvidedModuleName | 'buffer';

export function isProvidedModule(name: string): name is ProvidedModuleName {
  return Object.hasOwn(providedModules, name);
}

/** An expression that evaluates the module in the guest and yields what it exports. */
export function moduleExpression(name: ProvidedModuleName): string {
  const { file, global, warmUp } = providedModules[name];
  const main = createRequire(import.meta.url).resolve(name);
  const source = readFileSync(join(dirname(main), file), 'utf8');
  // The build must find neither a module loader nor the global object of its host, so it sets a
  // variable of this function.
  const build = `(function () { var exports, module, define; ${source}\n; return typeof ${global} === 'undefined' ? this.${global} : ${global}; }).call({})`;
  return `(function (m) { ${warmUp} return m; })(${build})`;
}

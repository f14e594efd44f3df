// Platform words: which command lines start the platform, and which one its client.
import { join } from 'node:path';
import { expect, test } from 'vitest';

const { isPlatformCommand } = (await import(join(import.meta.dirname, 'platform-words.js'))) as {
  readonly isPlatformCommand: (words: readonly string[]) => boolean;
};

test.each<[string, string[], boolean]>([
  ['no word', [], true],
  ['verify', ['verify'], true],
  ['migrate, with its words', ['migrate', 'records', '--to', 'postgresql'], true],
  ['reset of a second factor', ['reset-second-factor', 'ada@example.org'], true],
  ['a command of the client', ['devices', 'verify'], false],
  ['an option', ['--help'], false],
])('%s', (_, words, isPlatform) => expect(isPlatformCommand(words)).toBe(isPlatform));

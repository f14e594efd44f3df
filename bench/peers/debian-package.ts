// Installs a peer from Debian's packages when it is missing, without letting its service start by itself.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';

const policyPath = '/usr/sbin/policy-rc.d';
const restingPollMs = 2_000;
const refuseAll = '#!/bin/sh\nexit 101\n';

/** Undefined when the program is there, now or from before; else why it is not, in words. */
export function installPackages(packages: readonly string[], program: string): string | undefined {
  if (existsSync(program)) return undefined;
  if (process.getuid?.() !== 0)
    return `${program} is missing and only root may install ${packages.join(' ')}`;
  const restore = withoutAutostart();
  try {
    if (!apt(['install', '-y', '--no-install-recommends', ...packages])) {
      apt(['update']);
      apt(['install', '-y', '--no-install-recommends', ...packages]);
    }
  } finally {
    restore();
  }
  return existsSync(program) ? undefined : `${packages.join(' ')} cannot be installed here`;
}

/**
 * The account of a system user, for servers that refuse to run as root; undefined when this process
 * is not root itself.
 */
export function accountOf(user: string): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number =>
    Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** The upstream version of an installed package: 1.6.7 of 1.6.7~rc0-1+b13. */
export function packageVersion(name: string): string {
  const version = execFileSync('/usr/bin/dpkg-query', ['-W', '-f=${Version}', name], {
    encoding: 'utf8',
  });
  return /^(?:\d+:)?([\d.]+)/.exec(version)?.[1] ?? version;
}

/** Bytes of the files below a folder, as the disk holds them. */
export function folderBytes(folder: string): number {
  return Number(execFileSync('du', ['-s', '-B1', folder], { encoding: 'utf8' }).split('\t')[0]);
}

/** The bytes of some folders after ten seconds without background work, or after two minutes. */
export async function restingBytes(folders: readonly string[]): Promise<number> {
  const sum = (): number => folders.reduce((total, folder) => total + folderBytes(folder), 0);
  let last = sum();
  for (let calm = 0, rounds = 0; calm < 5 && rounds < 60; rounds++) {
    await delay(restingPollMs);
    const bytes = sum();
    calm = bytes === last ? calm + 1 : 0;
    last = bytes;
  }
  return last;
}

function apt(args: readonly string[]): boolean {
  try {
    execFileSync('/usr/bin/apt-get', args, {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    return true;
  } catch {
    return false;
  }
}

// Package scripts ask this program before they start a service; what stood there before comes back
// afterwards.
function withoutAutostart(): () => void {
  const before = existsSync(policyPath)
    ? { text: readFileSync(policyPath), mode: statSync(policyPath).mode & 0o777 }
    : undefined;
  writeFileSync(policyPath, refuseAll);
  chmodSync(policyPath, 0o755);
  return () => {
    if (before === undefined) return rmSync(policyPath);
    writeFileSync(policyPath, before.text);
    chmodSync(policyPath, before.mode);
  };
}

// Changelog of a release: the section of one version, its date, and release notes of one page.

/** More lines are not a page. */
const notesLinesMax = 80;
/** Sections of a version that has no more lines are in its notes in full. */
const fullSectionLinesMax = 40;
const undated = 'Unreleased';

export interface ChangelogKind {
  /** Added, Changed, Fixed or Security. */
  readonly name: string;
  readonly entries: number;
}

export interface ChangelogVersion {
  readonly version: string;
  /** `YYYY-MM-DD`, or undefined before the release. */
  readonly date: string | undefined;
  /** What stands before the first kind. */
  readonly summary: string;
  readonly kinds: readonly ChangelogKind[];
  /** All kinds with their entries, as in the changelog. */
  readonly sections: string;
}

/** Returns what the changelog says about the version. Throws when it has no heading or no summary for it. */
export function changelogVersion(changelog: string, version: string): ChangelogVersion {
  const heading = headingOf(changelog, version);
  const after = changelog.slice(heading.index + heading[0].length);
  const section = after.slice(0, /^## /m.exec(after)?.index);
  const at = /^### /m.exec(section)?.index ?? section.length;
  const summary = section.slice(0, at).trim();
  if (summary === '')
    throw new Error(
      `CHANGELOG.md has no summary of ${version} between its heading and "### Added"`,
    );
  const sections = section.slice(at).trim();
  const kinds = sections
    .split(/^### /m)
    .slice(1)
    .map((text) => ({
      name: text.slice(0, text.indexOf('\n')),
      entries: text.match(/^- /gm)?.length ?? 0,
    }));
  const [, , date = undated] = heading;
  return { version, date: date === undated ? undefined : date, summary, kinds, sections };
}

/** Returns the changelog with the date (`YYYY-MM-DD`) of the version, unless it has one already. */
export function datedChangelog(changelog: string, version: string, date: string): string {
  const [heading] = headingOf(changelog, version);
  return changelog.replace(heading, () => heading.replace(undated, date));
}

function headingOf(changelog: string, version: string): RegExpExecArray {
  const name = version.replaceAll('.', String.raw`\.`);
  const pattern = new RegExp(String.raw`^## \[(${name})\] - (${undated}|\d{4}-\d\d-\d\d)$`, 'm');
  const found = pattern.exec(changelog);
  if (found === null)
    throw new Error(`CHANGELOG.md has no heading "## [${version}] - ${undated}" or with a date`);
  return found;
}

export interface ReleaseFile {
  readonly name: string;
  readonly description: string;
  readonly bytes: number;
}

/**
 * Returns the notes in Markdown. Changes are listed when they are few, else counted. Throws when the
 * result is longer than a page.
 */
export function releaseNotes(
  { version, date, summary, kinds, sections }: ChangelogVersion,
  files: readonly ReleaseFile[],
): string {
  const isShort = sections.split('\n').length <= fullSectionLinesMax;
  const counts = kinds.map(({ name, entries }) => `${name.toLowerCase()} ${entries}`).join(', ');
  const changes = isShort
    ? sections.replaceAll(/^### /gm, '## ')
    : `## Changes\n\nCHANGELOG.md lists them: ${counts}.`;
  const rows = files.map(
    ({ name, description, bytes }) => `| \`${name}\` | ${description} | ${sizeOf(bytes)} |`,
  );
  const notes = [
    `# Heliograph ${version}`,
    date ?? undated,
    summary,
    changes,
    '## Files',
    ['| file | contents | size |', '|---|---|---|', ...rows].join('\n'),
    'Check what you downloaded, then install it as docs/install.md describes:',
    '```sh\nsha256sum --check --ignore-missing SHA256SUMS\n```',
  ];
  const text = `${notes.join('\n\n')}\n`;
  const lines = text.split('\n').length - 1;
  if (lines > notesLinesMax)
    throw new Error(
      `Release notes have ${lines} lines, more than ${notesLinesMax}. Shorten the summary of ${version} in CHANGELOG.md.`,
    );
  return text;
}

function sizeOf(bytes: number): string {
  return bytes < 1_000_000
    ? `${Math.ceil(bytes / 1_000)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

// Change list: fields of a record with their values before and after.
import { useFormats, useWords } from '../../words/language.tsx';
import { organizationWords } from './organization-words.ts';
import styles from './audit.module.css';

interface Change {
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly secret?: boolean;
}

/** Longer values are cut; the export has them whole. */
const shownCharactersMax = 60;
const shownMax = 4;

export function ChangeList({ changes }: { readonly changes: readonly Change[] }) {
  const words = useWords(organizationWords);
  const { instant } = useFormats();
  const said = (field: string, value: unknown) => shownValue(inWords(field, value, instant));
  const shown = changes.slice(0, shownMax);
  return (
    <ul className={styles['changes']}>
      {shown.map(({ field, before, after, secret = false }) => (
        <li key={field}>
          <span className="mono">{field}</span>{' '}
          {secret ? (
            <span className="faint">{words.hidden}</span>
          ) : (
            <>
              {before !== undefined && before !== null && <del>{said(field, before)}</del>}{' '}
              <ins>{said(field, after)}</ins>
            </>
          )}
        </li>
      ))}
      {changes.length > shownMax && <li className="faint">+{changes.length - shownMax}</li>}
    </ul>
  );
}

const epochMsLeast = 1e12;

/** Instants as dates, and who did something by the name. */
function inWords(field: string, value: unknown, instant: (iso: string) => string): unknown {
  if (field.endsWith('At') && typeof value === 'number' && value >= epochMsLeast)
    return instant(new Date(value).toISOString());
  const isNamed = typeof value === 'object' && value !== null && 'name' in value && 'id' in value;
  return isNamed ? value.name : value;
}

function shownValue(value: unknown): string {
  const said = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return said.length > shownCharactersMax ? `${said.slice(0, shownCharactersMax)}…` : said;
}

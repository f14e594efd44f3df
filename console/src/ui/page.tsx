// Page: its title, what is true now, what can be done, and its path in the top bar.
import { createContext, Fragment, type ReactNode, use, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import type { LucideIcon } from 'lucide-react';
import { useWords } from '../words/language.tsx';
import styles from './page.module.css';
import { partWords } from './part-words.ts';
import type { Need } from '../session/permissions.ts';

/** The element of the top bar that shows the path of a page, once it exists; undefined without a shell. */
export const PathPlace = createContext<HTMLElement | null | undefined>(undefined);

interface PageProps {
  readonly title: ReactNode;
  /** For the tab of the browser and the path; the last is the page itself. */
  readonly path: readonly ReactNode[];
  /** Name in the tab of the browser. */
  readonly name: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly isWide?: boolean;
  readonly children?: ReactNode;
}

export function Page({ title, path, name, lead, actions, isWide = false, children }: PageProps) {
  const words = useWords(partWords);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    document.title = `${name} · Heliograph`;
  }, [name]);
  return (
    <div className={`${styles['page']} ${isWide ? styles['wide'] : ''}`}>
      <Crumb parts={path} />
      <div className={styles['head']}>
        <div className={styles['title']}>
          <h1>{title}</h1>
          {lead !== undefined && <div className={styles['lead']}>{lead}</div>}
        </div>
        <div className={styles['actions']} data-open={isOpen}>
          {actions}
          <button
            type="button"
            className={styles['more']}
            aria-expanded={isOpen}
            aria-label={words.more}
            onClick={() => setOpen(!isOpen)}
          >
            <span aria-hidden="true">⋯</span>
          </button>
        </div>
      </div>
      <div className="stack fit gap-16">{children}</div>
    </div>
  );
}

function Crumb({ parts }: { readonly parts: readonly ReactNode[] }) {
  const place = use(PathPlace);
  if (place === null || place === undefined) return null;
  const last = parts.length - 1;
  return createPortal(
    parts.map((part, at) => (
      // oxlint-disable-next-line react/no-array-index-key -- a path has no other identity
      <Fragment key={at}>
        {at > 0 && (
          <span className="faint" aria-hidden="true">
            /
          </span>
        )}
        {at === last ? <b>{part}</b> : part}
      </Fragment>
    )),
    place,
  );
}

// Page actions: what the page that is shown offers to the palette.

export interface PageAction {
  /** As a sentence of the palette, such as `Tag 12 devices`. */
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly run: () => void;
  /** Without this permission it is not offered. */
  readonly needs?: Need;
}

const offered = new Map<symbol, readonly PageAction[]>();

/** Offers the actions while the part is shown. */
export function usePageActions(actions: readonly PageAction[]): void {
  useEffect(() => {
    const part = Symbol('part');
    offered.set(part, actions);
    return () => void offered.delete(part);
  }, [actions]);
}

export function pageActions(): readonly PageAction[] {
  return [...offered.values()].flat();
}

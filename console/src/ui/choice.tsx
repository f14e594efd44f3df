// Choices among a few: segments for a setting of the page, tabs for the pages of one thing.
import { Link, type LinkProps } from '@tanstack/react-router';
import styles from './choice.module.css';

interface SegmentsProps<T extends string> {
  /** Name of the choice, for a screen reader. */
  readonly label: string;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly value: T;
  readonly choose: (value: T) => void;
}

export function Segments<T extends string>({ label, options, value, choose }: SegmentsProps<T>) {
  return (
    <div className={styles['segments']} role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => choose(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}

interface Tab {
  readonly label: string;
  readonly link: LinkProps;
}

/** Links, so that every tab has its own address. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  return (
    <nav className={styles['tabs']} aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.label} {...tab.link} activeOptions={{ exact: true, includeSearch: false }}>
          {tab.label}
        </Link>
      ))}
    </nav>
  );
}

// Top bar: where one is, and the way to everything else.
import { AlarmBell } from './alarm-bell.tsx';
import styles from './shell.module.css';

/** `placePath` gets the element in which a page shows its path. */
export function TopBar({ placePath }: { readonly placePath: (place: HTMLElement | null) => void }) {
  return (
    <header className={styles['top']}>
      <div className={styles['crumb']} ref={placePath} />
      <span className="grow" />
      <AlarmBell />
    </header>
  );
}

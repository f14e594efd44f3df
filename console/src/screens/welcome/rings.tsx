// Rings: the sun that waits for a reading, and flashes when one arrives.
import styles from './welcome.module.css';

export function Rings({ state }: { readonly state: 'idle' | 'waiting' | 'flash' }) {
  const center = { cx: 100, cy: 100 };
  return (
    <svg className={styles['rings']} data-state={state} viewBox="0 0 200 200" aria-hidden="true">
      {['a', 'b', 'c'].map((name) => (
        <circle key={name} className={`${styles['ring']} ${styles[name]}`} {...center} r="34" />
      ))}
      <circle className={styles['sun']} {...center} r="22" />
    </svg>
  );
}

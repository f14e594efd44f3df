// Refused: why the platform did not take a form as a whole.
import styles from './refused.module.css';

export function Refused({ reason }: { readonly reason: string }) {
  return (
    <p role="alert" className={styles['refused']}>
      {reason}
    </p>
  );
}

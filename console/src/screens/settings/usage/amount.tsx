// Amount: a figure with a bar that compares it with the greatest of its column.
import styles from '../settings.module.css';

interface AmountProps {
  readonly value: number;
  /** What a whole bar is. */
  readonly most: number;
  readonly shown: string;
  /** The greatest is a limit, so that a nearly full bar is a warning. */
  readonly isLimited?: boolean;
}

const nearlyFull = 0.9;

export function Amount({ value, most, shown, isLimited = false }: AmountProps) {
  const share = most === 0 ? 0 : value / most;
  return (
    <span className={styles['amount']}>
      {shown}
      <span
        className={styles['share']}
        data-is-full={isLimited && share > nearlyFull}
        style={{ width: `${Math.min(share, 1) * 100}%` }}
        aria-hidden="true"
      />
    </span>
  );
}

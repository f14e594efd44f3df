// Lane: a heading, its cards, and what adds one.
import { Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../button.tsx';
import styles from './lanes.module.css';

interface LaneProps {
  readonly title: string;
  /** Adds a card. */
  readonly foot?: ReactNode;
  /** Elements of a list. */
  readonly children: ReactNode;
}

export function Lane({ title, foot, children }: LaneProps) {
  return (
    <div data-lane>
      <h2>{title}</h2>
      <ul>{children}</ul>
      {foot}
    </div>
  );
}

/** The key `+` presses it. */
export function AddButton({ label, add }: { readonly label: string; readonly add: () => void }) {
  return (
    <Button look="ghost" data-add onClick={add}>
      <Plus aria-hidden="true" />
      {label}
    </Button>
  );
}

interface AddFormProps {
  readonly label: string;
  /** Fields of the new card; `done` shows the button again. */
  readonly children: (done: () => void) => ReactNode;
}

/** A button, and the fields that it opens in its place. */
export function AddForm({ label, children }: AddFormProps) {
  const [isOpen, setOpen] = useState(false);
  if (!isOpen) return <AddButton label={label} add={() => setOpen(true)} />;
  return <div className={styles['add']}>{children(() => setOpen(false))}</div>;
}

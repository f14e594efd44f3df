// Parts of the lists of notes and uplinks: the button for older rows, and rows that are on their way.
import { Button } from '../../ui/button.tsx';
import { Bone } from '../../ui/states.tsx';
import { useWords } from '../../words/language.tsx';
import { logWords } from './device-words.ts';
import styles from './notes.module.css';

interface OlderButtonProps {
  readonly hasOlder: boolean;
  readonly isLoadingOlder: boolean;
  readonly older: () => void;
}

export function OlderButton({ hasOlder, isLoadingOlder, older }: OlderButtonProps) {
  const words = useWords(logWords);
  if (!hasOlder) return null;
  return (
    <div className={styles['older']}>
      <Button onClick={older} disabled={isLoadingOlder}>
        {words.older}
      </Button>
    </div>
  );
}

export function RowBones() {
  return (
    <ul className="divided" aria-hidden="true">
      {['a', 'b', 'c', 'd', 'e'].map((name) => (
        <li key={name} className={styles['bones']}>
          <Bone width="10em" />
          <Bone width="24em" />
        </li>
      ))}
    </ul>
  );
}

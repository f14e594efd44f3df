// Conflict dialog: what to do when someone else saved the dashboard in the meantime.
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useWords } from '../../words/language.tsx';
import { dashboardsWords } from './dashboards-words.ts';

interface ConflictDialogProps {
  readonly overwrite: () => void;
  readonly takeTheirs: () => void;
  /** Decides later; the edits stay. */
  readonly close: () => void;
}

export function ConflictDialog({ overwrite, takeTheirs, close }: ConflictDialogProps) {
  const words = useWords(dashboardsWords);
  return (
    <Dialog
      title={words.conflict}
      close={close}
      footer={
        <>
          <Button onClick={takeTheirs}>{words.takeTheirs}</Button>
          <Button look="primary" onClick={overwrite}>
            {words.overwrite}
          </Button>
        </>
      }
    >
      <p>{words.conflictNote}</p>
    </Dialog>
  );
}

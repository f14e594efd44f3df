// Confirm dialog: asks once before something that cannot be undone.
import { ActionFailure } from './action-failure.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  readonly note: string;
  readonly confirmLabel: string;
  readonly cancelLabel: string;
  readonly isBusy?: boolean;
  /** Why it was refused; the question stays open. */
  readonly error?: Error | null;
  readonly confirm: () => void;
  readonly close: () => void;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const {
    title,
    note,
    confirmLabel,
    cancelLabel,
    isBusy = false,
    error = null,
    confirm,
    close,
  } = props;
  return (
    <Dialog
      title={title}
      close={close}
      footer={
        <>
          <Button onClick={close}>{cancelLabel}</Button>
          <Button look="danger" disabled={isBusy} onClick={confirm}>
            {confirmLabel}
          </Button>
        </>
      }
    >
      <p>{note}</p>
      <ActionFailure error={error} />
    </Dialog>
  );
}

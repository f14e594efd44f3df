// Form dialog: one form, its buttons, and why it could not be saved.
import { type FormEvent, type ReactNode, useId } from 'react';
import { useWords } from '../words/language.tsx';
import { ActionFailure } from './action-failure.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import styles from './dialog.module.css';
import { editingWords } from './editing-words.ts';

interface FormDialogProps {
  readonly title: string;
  readonly isWide?: boolean;
  readonly submitLabel: string;
  /** While the request is in progress. */
  readonly isBusy?: boolean;
  /** While the values make no sense together; single fields say it themselves. */
  readonly isIncomplete?: boolean;
  /** What no field of the form says. */
  readonly error?: Error | null;
  /** Buttons at the start of the footer. */
  readonly extraButtons?: ReactNode;
  /** Gets the values of the fields that have a name. */
  readonly submit: (given: FormData) => void;
  readonly close: () => void;
  readonly children: ReactNode;
}

export function FormDialog(props: FormDialogProps) {
  const { title, isWide = false, submitLabel, extraButtons, submit, close, children } = props;
  const { isBusy = false, isIncomplete = false, error = null } = props;
  const words = useWords(editingWords);
  const form = useId();
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // The dialog may be inside another form of the page.
    event.stopPropagation();
    submit(new FormData(event.currentTarget));
  };
  const footer = (
    <>
      {extraButtons !== undefined && (
        <>
          {extraButtons}
          <span className="grow" />
        </>
      )}
      <Button onClick={close}>{words.cancel}</Button>
      <Button look="primary" type="submit" form={form} disabled={isBusy || isIncomplete}>
        {submitLabel}
      </Button>
    </>
  );
  return (
    <Dialog title={title} close={close} isWide={isWide} footer={footer}>
      <form id={form} className={styles['form']} onSubmit={send}>
        {children}
        <ActionFailure error={error} />
      </form>
    </Dialog>
  );
}

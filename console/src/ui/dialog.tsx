// Dialogs: the browser's own, with a question or with a form.
import { X } from 'lucide-react';
import { type FormEvent, type ReactNode, useId } from 'react';
import { useWords } from '../words/language.tsx';
import { ActionFailure } from './action-failure.tsx';
import { Button } from './button.tsx';
import styles from './dialog.module.css';
import { editingWords } from './editing-words.ts';
import { partWords } from './part-words.ts';
import { useModal } from './use-modal.ts';

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly isWide?: boolean;
  /** Buttons at the end; the last is the main one. */
  readonly footer?: ReactNode;
  readonly children: ReactNode;
}

/** Shown as long as it is rendered. Escape and a click outside close it. */
export function Dialog({ title, close, isWide = false, footer, children }: DialogProps) {
  const words = useWords(partWords);
  const heading = useId();
  const element = useModal();
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events -- Escape is the key for it
    <dialog
      ref={element}
      className={`${styles['dialog']} ${isWide ? styles['wide'] : ''}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        // That of a choice of files arrives here too.
        if (event.target === event.currentTarget) close();
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) close();
      }}
    >
      <header className={styles['header']}>
        <h2 id={heading}>{title}</h2>
        <span className="grow" />
        <Button look="ghost" isIcon aria-label={words.close} onClick={close}>
          <X aria-hidden="true" />
        </Button>
      </header>
      <div className={styles['body']}>{children}</div>
      {footer !== undefined && <footer className={styles['footer']}>{footer}</footer>}
    </dialog>
  );
}

// Confirm dialog: asks once before something that cannot be undone.

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

// Form dialog: one form, its buttons, and why it could not be saved.

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
      <form id={form} className="stack fit gap-16" onSubmit={send}>
        {children}
        <ActionFailure error={error} />
      </form>
    </Dialog>
  );
}

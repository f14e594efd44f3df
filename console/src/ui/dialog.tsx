// Dialogs: the browser's own, with a question or with a form.
import { X } from 'lucide-react';
import {
  type FormEvent,
  type ReactNode,
  type RefObject,
  useId,
  useLayoutEffect,
  useRef,
} from 'react';
import { useWords } from '../words/language.tsx';
import { ActionFailure } from './action-failure.tsx';
import { Button } from './button.tsx';
import styles from './dialog.module.css';
import { editingWords } from './editing-words.ts';
import { partWords } from './part-words.ts';

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

// Modal dialog of the browser: its first field has the focus, which goes back to what opened it.

/** Opens the dialog as long as it is rendered. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const element = useRef<HTMLDialogElement>(null);
  // Before the page is painted, and while the dialog is still there to be closed.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog === null) return undefined;
    const opener = trailOf(document.activeElement);
    dialog.showModal();
    const field = firstFieldOf(dialog);
    (field ?? mainButtonOf(dialog))?.focus();
    const stop = field === undefined ? awaitField(dialog) : undefined;
    return () => {
      stop?.();
      dialog.close();
      focusTrail(opener);
    };
  }, []);
  return element;
}

/** Fields may come with an answer: the first one gets the focus unless the user did something before. */
function awaitField(dialog: HTMLDialogElement): () => void {
  const changes = new MutationObserver(() => {
    const field = firstFieldOf(dialog);
    if (field === undefined) return;
    stop();
    field.focus();
  });
  const stop = () => {
    changes.disconnect();
    dialog.removeEventListener('keydown', stop);
    dialog.removeEventListener('pointerdown', stop);
  };
  changes.observe(dialog, { childList: true, subtree: true });
  dialog.addEventListener('keydown', stop);
  dialog.addEventListener('pointerdown', stop);
  return stop;
}

/** What Enter should do where nothing is typed: never what cannot be undone. */
function mainButtonOf(dialog: HTMLDialogElement): HTMLElement | null {
  const main = dialog.querySelector<HTMLElement>(
    'footer button[data-look="primary"]:not(:disabled)',
  );
  return (
    main ?? dialog.querySelector<HTMLElement>('footer button:not([data-look="danger"], :disabled)')
  );
}

// Focus: where it goes in what opens, and where it goes when what had it is gone.

/** A choice of files would open by the key that opened its dialog. */
const fields =
  'input:not([type="hidden"], [type="file"], :disabled), select:not(:disabled), textarea:not(:disabled)';
const pressed = 'a[href], button:not(:disabled), summary';
const reachable = `${pressed}, input, select:not(:disabled), textarea, [tabindex]`;

/** An element and what it is in, from the inside; empty for the page itself. */
export function trailOf(element: Element | null): readonly Element[] {
  const trail: Element[] = [];
  for (let at = element; at !== null && at !== document.body; at = at.parentElement) trail.push(at);
  return trail;
}

/** The first field, and of radio buttons the chosen one. */
function firstFieldOf(place: Element): HTMLElement | undefined {
  const first = visible(place, fields);
  if (!(first instanceof HTMLInputElement) || first.type !== 'radio') return first;
  const chosen = `input[type="radio"][name="${CSS.escape(first.name)}"]:checked`;
  return visible(place, chosen) ?? first;
}

/** Focuses the first element of the trail if it can, else what is nearest to where it was. */
export function focusTrail(trail: readonly Element[]): void {
  const [wanted, ...around] = trail;
  if (wanted instanceof HTMLElement && isThere(wanted) && wanted.matches(reachable))
    return wanted.focus();
  const content = document.getElementById('content');
  for (const place of around) {
    if (!place.isConnected || content === null || place.contains(content)) continue;
    // Not a field: keys that act on the page would be typed into it.
    const near = visible(place, pressed);
    if (near !== undefined) return near.focus({ preventScroll: true });
  }
  content?.focus({ preventScroll: true });
}

function visible(place: Element, selector: string): HTMLElement | undefined {
  return [...place.querySelectorAll<HTMLElement>(selector)].find(isThere);
}

function isThere(element: HTMLElement): boolean {
  return element.isConnected && element.checkVisibility({ visibilityProperty: true });
}

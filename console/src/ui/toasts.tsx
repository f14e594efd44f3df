// Toasts: what was done a moment ago, said once, with a way back where there is one.
import { Refusal } from '../api/platform.ts';
import { createWatchedValue, useWatchedValue } from '../api/watched-value.ts';
import { useWords } from '../words/language.tsx';
import { partWords } from './part-words.ts';
import styles from './toasts.module.css';

interface Toast {
  readonly id: number;
  readonly message: string;
  readonly undo?: () => void;
}

const shownMs = 8_000;
const shownMax = 4;
const shown = createWatchedValue<readonly Toast[]>([]);
let lastId = 0;

export function toast(message: string, undo?: () => void): void {
  const id = ++lastId;
  const added = { id, message, ...(undo === undefined ? {} : { undo }) };
  shown.set([...shown.get(), added].slice(-shownMax));
  setTimeout(() => dismiss(id), shownMs);
}

/** Says why something was refused, with the id that finds it in the log. */
export function toastFailure(error: Error): void {
  const request = error instanceof Refusal ? error.requestId : undefined;
  toast(request === undefined ? error.message : `${error.message} (${request})`);
}

export function ToastRegion() {
  const words = useWords(partWords);
  const toasts = useWatchedValue(shown);
  return (
    <div className={styles['region']} role="status">
      {toasts.map(({ id, message, undo }) => (
        <div key={id} className={styles['toast']}>
          <span className="grow">{message}</span>
          {undo !== undefined && (
            <button
              type="button"
              onClick={() => {
                undo();
                dismiss(id);
              }}
            >
              {words.undo}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}

function dismiss(id: number): void {
  shown.set(shown.get().filter((one) => one.id !== id));
}

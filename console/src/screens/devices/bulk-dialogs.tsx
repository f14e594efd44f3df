// Dialogs of bulk work: the question before a deletion, and the devices that were not changed.
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import type { BulkWork } from './bulk-work.ts';
import { devicesWords } from './devices-words.ts';
import styles from './devices.module.css';

/** More are not read by anyone; the operation has them all. */
const failedShown = 200;

interface DeleteDialogProps {
  readonly count: number;
  readonly close: () => void;
  readonly remove: () => void;
}

export function DeleteDialog({ count, close, remove }: DeleteDialogProps) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const said = words.count(formats.count(count), count);
  return (
    <Dialog
      title={words.removeTitle(said)}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button look="danger" onClick={remove}>
            {words.removeNow(said)}
          </Button>
        </>
      }
    >
      <p>{words.removeNote}</p>
    </Dialog>
  );
}

export function FailedDialog({ work }: { readonly work: BulkWork }) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const { failed, forgetFailed } = work;
  return (
    <Dialog
      title={words.someFailed(formats.count(failed.length))}
      close={forgetFailed}
      isWide
      footer={<Button onClick={forgetFailed}>{words.understood}</Button>}
    >
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus */}
      <div className={styles['failed']} role="region" aria-label={words.failedTable} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{words.device}</th>
              <th scope="col">{words.reason}</th>
            </tr>
          </thead>
          <tbody>
            {failed.slice(0, failedShown).map(({ name, reason }) => (
              <tr key={name}>
                <td>{name}</td>
                <td>{reason}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {failed.length > failedShown && <p>{words.failedMore(formats.count(failedShown))}</p>}
    </Dialog>
  );
}

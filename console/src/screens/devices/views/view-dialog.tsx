// View dialog: name of a saved view, who sees it, its link, and its end.
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Segments } from '../../../ui/choice.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { TextField } from '../../../ui/field.tsx';
import { FormDialog } from '../../../ui/dialog.tsx';
import { toast, toastFailure } from '../../../ui/toasts.tsx';
import { useWords } from '../../../words/language.tsx';
import type { DeviceSearch } from '../device-search.ts';
import { createView, deleteView, updateView, type View, useMayShare } from './views.ts';
import { viewsWords } from '../devices-words.ts';
import styles from './views.module.css';
import { useAction } from '../../../ui/use-action.ts';

interface ViewDialogProps {
  readonly workspaceId: string;
  /** The view to change; undefined for a new one. */
  readonly view: View | undefined;
  readonly search: DeviceSearch;
  readonly change: (search: DeviceSearch) => void;
  readonly close: () => void;
}

export function ViewDialog(props: ViewDialogProps) {
  const { workspaceId, view, close } = props;
  const words = useWords(viewsWords);
  const mayShare = useMayShare(workspaceId);
  const [name, setName] = useState(view?.name ?? '');
  const [isShared, setShared] = useState(view?.shared ?? false);
  const save = useSave(props, { name: name.trim(), shared: isShared });
  const mayEdit = view === undefined || (view.shared ? mayShare : view.own);
  return (
    <FormDialog
      title={view === undefined ? words.newTitle : words.settings}
      submitLabel={words.keep}
      isBusy={save.isPending}
      isIncomplete={!mayEdit || name.trim() === ''}
      extraButtons={
        view !== undefined && <ViewEnd {...props} view={view} mayEnd={mayEdit || view.own} />
      }
      submit={() => save.mutate()}
      close={close}
    >
      {!mayEdit && <p className="mute">{words.notYours}</p>}
      <TextField
        label={words.name}
        hint={words.nameHint}
        error={save.error?.message}
        value={name}
        maxLength={100}
        required
        disabled={!mayEdit}
        autoComplete="off"
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the first field of a dialog that was asked for
        autoFocus
        onChange={({ target }) => setName(target.value)}
      />
      <Sharing mayShare={mayShare} isShared={isShared} share={setShared} />
    </FormDialog>
  );
}

interface SharingProps {
  readonly mayShare: boolean;
  readonly isShared: boolean;
  readonly share: (isShared: boolean) => void;
}

function Sharing({ mayShare, isShared, share }: SharingProps) {
  const words = useWords(viewsWords);
  const all = { value: 'workspace', label: words.workspace } as const;
  const me = { value: 'me', label: words.onlyMe } as const;
  return (
    <div className={`stack justify-start gap-6 ${styles['sharing']}`}>
      <span>{words.sharing}</span>
      <Segments
        label={words.sharing}
        value={isShared ? 'workspace' : 'me'}
        options={mayShare ? [me, all] : [isShared ? all : me]}
        choose={(choice) => share(choice === 'workspace')}
      />
      {!mayShare && <span className="faint">{words.mayNotShare}</span>}
    </div>
  );
}

function ViewEnd({
  view,
  change,
  close,
  mayEnd,
}: ViewDialogProps & { readonly view: View; readonly mayEnd: boolean }) {
  const words = useWords(viewsWords);
  const remove = useAction({
    mutationFn: () => deleteView(view),
    onSuccess: () => {
      toast(words.removed(view.name));
      close();
      change({});
    },
    onError: toastFailure,
  });
  return (
    <>
      <CopyButton content={location.href}>{words.copyLink}</CopyButton>
      {mayEnd && (
        <Button look="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
          {words.remove}
        </Button>
      )}
    </>
  );
}

function useSave(
  { workspaceId, view, search, change, close }: ViewDialogProps,
  draft: { readonly name: string; readonly shared: boolean },
) {
  const words = useWords(viewsWords);
  return useAction({
    mutationFn: () =>
      view === undefined ? createView(workspaceId, draft, search) : updateView(view, draft),
    onSuccess: ({ id, name }) => {
      toast(view === undefined ? words.saved(name) : words.changed(name));
      close();
      if (view === undefined) change({ ...search, view: id });
    },
  });
}

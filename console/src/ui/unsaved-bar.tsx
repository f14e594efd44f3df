// Unsaved bar: save and discard, and the notices around edits: leaving, other editors, missing permission.
import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useLayoutEffect, useRef } from 'react';
import { type Need, useMay, useMayDo } from '../session/permissions.ts';
import { useWords } from '../words/language.tsx';
import { ActionFailure } from './action-failure.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { editingWords } from './editing-words.ts';
import styles from './unsaved-bar.module.css';
import type { Editor } from './use-editor.ts';

interface UnsavedBarProps {
  readonly editor: Omit<Editor<unknown>, 'value' | 'change'>;
  /** The permission of saving; without it the bar says so, in place of its buttons. */
  readonly needs: Need;
  /** Pages below this path share the edits, so that the way between them is free. */
  readonly within?: string;
  /** Saving must wait for a value that is missing or wrong. */
  readonly isBlocked?: boolean;
  /** Instead of "Save", for what is not created yet; it can be created without a change. */
  readonly createLabel?: string;
  /** For a form that is higher than the window. */
  readonly isSticky?: boolean;
  /** Further actions, at the end. */
  readonly children?: ReactNode;
}

export function UnsavedBar(props: UnsavedBarProps) {
  const words = useWords(editingWords);
  if (useMayDo(props.needs)) return <OpenBar {...props} />;
  return <p className="mute text-small">{words.readOnly(props.needs)}</p>;
}

/** Ctrl S saves; leaving the page with edits asks first. */
function OpenBar(props: UnsavedBarProps) {
  const { editor, within, isBlocked = false, isSticky = false } = props;
  const { createLabel, children } = props;
  const { isChanged, isSaving, isStale, save, discard } = editor;
  const words = useWords(editingWords);
  const isReady = (isChanged || createLabel !== undefined) && !isSaving && !isBlocked;
  useSaveKey(isReady, save);
  return (
    <div className={`stack gap-8 ${isSticky ? styles['sticky'] : ''}`}>
      {isStale && <StaleNotice discard={discard} save={save} />}
      <ActionFailure error={editor.error} />
      <div className="row wrap gap-8">
        <Button look="primary" disabled={!isReady} onClick={() => save()}>
          {isSaving ? words.saving : (createLabel ?? words.save)}
        </Button>
        {isChanged && <Button onClick={discard}>{words.discard}</Button>}
        <Note editor={editor} />
        <span className="grow" />
        {children}
      </div>
      <LeaveWarning isChanged={isChanged} {...(within === undefined ? {} : { within })} />
    </div>
  );
}

function Note({ editor: { isChanged, isKept, isRestored } }: Pick<UnsavedBarProps, 'editor'>) {
  const words = useWords(editingWords);
  const kept = isRestored ? words.restored : words.unsaved;
  return (
    <span role="status" className="mute text-small">
      {isChanged && (isKept ? kept : words.notKept)}
    </span>
  );
}

/** Ctrl S or Cmd S instead of the browser's own saving. */
function useSaveKey(isReady: boolean, save: () => void): void {
  const latest = useRef({ isReady, save });
  // Before the page is painted: who sees the form can save it.
  useLayoutEffect(() => {
    latest.current = { isReady, save };
  });
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
      // An editor on the page has saved already; a second request would be at an old version.
      if (event.defaultPrevented) return;
      event.preventDefault();
      if (latest.current.isReady) latest.current.save();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

// Leave warning: asks before a page with edits that are not saved is left.

interface LeaveWarningProps {
  readonly isChanged: boolean;
  /** Pages below this path share the edits, so that the way between them is free. */
  readonly within?: string;
}

/** Edits stay in the browser either way; staying is the main answer because it is what undoes a slip. */
export function LeaveWarning({ isChanged, within }: LeaveWarningProps) {
  const words = useWords(editingWords);
  const blocker = useBlocker({
    withResolver: true,
    enableBeforeUnload: isChanged,
    shouldBlockFn: ({ current, next }) => {
      const isFree = within !== undefined && `${next.pathname}/`.startsWith(`${within}/`);
      return isChanged && !isFree && current.pathname !== next.pathname;
    },
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <Dialog
      title={words.leaveTitle}
      close={blocker.reset}
      footer={
        <>
          <Button onClick={blocker.proceed}>{words.leave}</Button>
          <Button look="primary" onClick={blocker.reset}>
            {words.stay}
          </Button>
        </>
      }
    >
      <p>{words.leaveNote}</p>
    </Dialog>
  );
}

// Stale notice: someone else saved the record while it was edited here, and one of both must win.

interface StaleNoticeProps {
  readonly discard: () => void;
  readonly save: (isForced: boolean) => void;
}

export function StaleNotice({ discard, save }: StaleNoticeProps) {
  const words = useWords(editingWords);
  return (
    <div className={styles['stale']} role="alert">
      <span className="grow">{words.staleTitle}</span>
      <Button onClick={discard}>{words.takeTheirs}</Button>
      <Button onClick={() => save(true)}>{words.keepMine}</Button>
    </div>
  );
}

// Read-only note: says before an edit that it would be refused, and what it needs.

interface ReadOnlyNoteProps {
  readonly workspaceId: string;
  readonly scope: string;
  readonly verb: Parameters<typeof useMay>[2];
}

export function ReadOnlyNote({ workspaceId, scope, verb }: ReadOnlyNoteProps) {
  const words = useWords(editingWords);
  if (useMay(workspaceId, scope, verb)) return null;
  return <p className={styles['notice']}>{words.readOnly(`${scope}: ${verb}`)}</p>;
}

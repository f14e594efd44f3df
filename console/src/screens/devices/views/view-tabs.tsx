// View tabs: all devices and the saved views; changes of one can be saved or taken back.
import { useQuery } from '@tanstack/react-query';
import { Bookmark, RotateCcw, Save, Settings2, UsersRound } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { late } from '../../../ui/late.tsx';
import { toast, toastFailure } from '../../../ui/toasts.tsx';
import { useWords } from '../../../words/language.tsx';
import type { DeviceSearch } from '../device-search.ts';
import { isChanged, searchOfView, updateView, type View, viewsOf, useMayShare } from './views.ts';
import { viewsWords } from '../devices-words.ts';
import styles from './views.module.css';
import { useAction } from '../../../ui/use-action.ts';

const ViewDialog = late('ViewDialog', async () => (await import('./view-dialog.tsx')).ViewDialog);

interface ViewTabsProps {
  readonly workspaceId: string;
  readonly search: DeviceSearch;
  readonly change: (search: DeviceSearch) => void;
}

interface AllTabsProps extends ViewTabsProps {
  /** Whether views can be saved and changed. */
  readonly isEditable: boolean;
}

export function ViewTabs({ workspaceId, search, change, isEditable }: AllTabsProps) {
  const words = useWords(viewsWords);
  const views = useQuery(viewsOf(workspaceId));
  const current = views.data?.find(({ id }) => id === search.view);
  useFilledIn(search, current, change);
  const isPlain = Object.keys(search).every((key) => key === 'cols');
  if (views.data === undefined && views.error === null) return <div className={styles['bar']} />;
  return (
    <div className={styles['bar']}>
      <nav className={styles['tabs']} aria-label={words.views}>
        <Tab label={words.all} isCurrent={current === undefined} choose={() => change({})} />
        {views.data?.map((view) => (
          <Tab
            key={view.id}
            label={view.name}
            isShared={view.shared}
            isCurrent={view === current}
            choose={() => change(searchOfView(view))}
          />
        ))}
        {views.error !== null && (
          <span className="mute">
            {words.failed}: {views.error.message}
          </span>
        )}
      </nav>
      {isEditable && (
        <ViewButtons
          workspaceId={workspaceId}
          search={search}
          change={change}
          current={current}
          isPlain={isPlain}
        />
      )}
    </div>
  );
}

/** An address with nothing but a view gets what the view has. */
function useFilledIn(
  search: DeviceSearch,
  current: View | undefined,
  change: (search: DeviceSearch) => void,
): void {
  const isBare = Object.keys(search).length === 1 && search.view !== undefined;
  useEffect(() => {
    if (isBare && current !== undefined && isChanged(current, search))
      change(searchOfView(current));
  }, [isBare, current, search, change]);
}

interface TabProps {
  readonly label: string;
  readonly isShared?: boolean;
  readonly isCurrent: boolean;
  readonly choose: () => void;
}

function Tab({ label, isShared = false, isCurrent, choose }: TabProps) {
  const words = useWords(viewsWords);
  return (
    <button type="button" aria-current={isCurrent ? 'page' : undefined} onClick={choose}>
      {label}
      {isShared && (
        <>
          <UsersRound aria-hidden="true" />
          <span className="sr">{words.shared}</span>
        </>
      )}
    </button>
  );
}

interface ViewButtonsProps extends ViewTabsProps {
  readonly current: View | undefined;
  readonly isPlain: boolean;
}

type Asked = 'new' | 'settings';

function ViewButtons({ workspaceId, search, change, current, isPlain }: ViewButtonsProps) {
  const words = useWords(viewsWords);
  const [asked, setAsked] = useState<Asked>();
  const hasChanges = current !== undefined && isChanged(current, search);
  return (
    <div className={styles['buttons']}>
      {hasChanges && <ChangeButtons view={current} search={search} change={change} />}
      {(hasChanges || (current === undefined && !isPlain)) && (
        <Button look="ghost" aria-haspopup="dialog" onClick={() => setAsked('new')}>
          <Bookmark aria-hidden="true" />
          {current === undefined ? words.save : words.saveAs}
        </Button>
      )}
      {current !== undefined && (
        <Button
          look="ghost"
          isIcon
          aria-haspopup="dialog"
          aria-label={words.settings}
          title={words.settings}
          onClick={() => setAsked('settings')}
        >
          <Settings2 aria-hidden="true" />
        </Button>
      )}
      {asked !== undefined && (
        <ViewDialog
          workspaceId={workspaceId}
          view={asked === 'settings' ? current : undefined}
          search={search}
          change={change}
          close={() => setAsked(undefined)}
        />
      )}
    </div>
  );
}

interface ChangeButtonsProps {
  readonly view: View;
  readonly search: DeviceSearch;
  readonly change: (search: DeviceSearch) => void;
}

function ChangeButtons({ view, search, change }: ChangeButtonsProps) {
  const words = useWords(viewsWords);
  const mayChange = useMayChange(view);
  const save = useAction({
    mutationFn: () => updateView(view, { search }),
    onSuccess: ({ name }) => toast(words.changed(name)),
    onError: toastFailure,
  });
  return (
    <>
      <Button look="ghost" onClick={() => change(searchOfView(view))}>
        <RotateCcw aria-hidden="true" />
        {words.reset}
      </Button>
      {mayChange && (
        <Button disabled={save.isPending} onClick={() => save.mutate()}>
          <Save aria-hidden="true" />
          {words.saveChanges}
        </Button>
      )}
    </>
  );
}

/** A shared view is changed only with the permission to change the workspace. */
function useMayChange({ own, shared, workspaceId }: View): boolean {
  const mayShare = useMayShare(workspaceId);
  return shared ? mayShare : own;
}

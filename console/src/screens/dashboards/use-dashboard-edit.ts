// Hook on the edits of a dashboard: kept until they are saved, and never saved over those of another.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { Refusal } from '../../api/refusal.ts';
import { toast, toastFailure } from '../../parts/toasts.tsx';
import { type Draft, useDraft } from '../../parts/use-draft.ts';
import { useWords } from '../../words/language.tsx';
import type { Configuration, Dashboard } from './dashboard-model.ts';
import { changeDashboard, dashboardOf, refreshLists } from './dashboard-requests.ts';
import { dashboardsWords } from './dashboards-words.ts';
import { useReader } from './data/reader.tsx';

export interface DashboardEdit {
  readonly name: string;
  readonly description: string | null;
  readonly configuration: Configuration;
  /** Of the dashboard that was changed. */
  readonly version: number;
}

interface Edited {
  readonly draft: Draft<DashboardEdit>;
  readonly save: () => void;
  readonly isSaving: boolean;
  /** Someone else saved in the meantime. */
  readonly isConflict: boolean;
  readonly overwrite: () => void;
  readonly takeTheirs: () => void;
  readonly decideLater: () => void;
}

const conflict = 409;

export function useDashboardEdit(dashboard: Dashboard, configuration: Configuration): Edited {
  const words = useWords(dashboardsWords);
  const client = useQueryClient();
  const reader = useReader();
  const { id, name, description, version } = dashboard;
  const draft = useDraft<DashboardEdit>(`dashboard ${id}`, {
    name,
    description,
    configuration,
    version,
  });
  const [isConflict, setConflict] = useState(false);
  const query = dashboardOf(id, reader);
  const save = useMutation({
    mutationFn: (edit: DashboardEdit) => changeDashboard(id, edit),
    onSuccess(saved) {
      setConflict(false);
      draft.discard();
      client.setQueryData(query.queryKey, saved);
      toast(words.saved);
      void refreshLists();
    },
    onError(error) {
      if (error instanceof Refusal && error.status === conflict) setConflict(true);
      else toastFailure(error);
    },
  });
  const newestVersion = async () => {
    const params = { path: { id } };
    return (await ask(platform.GET('/v3/dashboards/{id}', { params }))).version;
  };
  return {
    draft,
    isSaving: save.isPending,
    isConflict,
    save: () => save.mutate(draft.value),
    overwrite: () =>
      void newestVersion().then(
        (newest) => save.mutate({ ...draft.value, version: newest }),
        toastFailure,
      ),
    decideLater: () => setConflict(false),
    takeTheirs() {
      setConflict(false);
      draft.discard();
      void client.invalidateQueries({ queryKey: query.queryKey });
    },
  };
}

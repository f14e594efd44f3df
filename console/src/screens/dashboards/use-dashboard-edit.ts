// Hook on the edits of a dashboard: kept until they are saved, and never saved over those of another.
import { type Editor, useEditor } from '../../ui/use-editor.ts';
import type { Configuration, Dashboard } from './dashboard-model.ts';
import { changeDashboard, dashboardOf } from './dashboard-requests.ts';
import { useReader } from './data/reader.tsx';

export interface DashboardEdit {
  readonly name: string;
  readonly description: string | null;
  readonly configuration: Configuration;
}

export function useDashboardEdit(
  dashboard: Dashboard,
  configuration: Configuration,
): Editor<DashboardEdit> {
  const { id, name, description, version } = dashboard;
  return useEditor<DashboardEdit, Dashboard>({
    key: `dashboard ${id}`,
    saved: { name, description, configuration },
    version,
    record: dashboardOf(id, useReader()).queryKey,
    list: ['dashboards'],
    send: (edit, from) => changeDashboard(id, { ...edit, ...from }),
  });
}

// Import of devices: a CSV file, its columns, a check that changes nothing, and only then the import.
import { getRouteApi, Link } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { customFieldsOf } from '../../api/custom-fields.ts';
import { Page } from '../../parts/page.tsx';
import { useWords } from '../../words/language.tsx';
import { FailedDialog } from './bulk-dialogs.tsx';
import { useBulkWork } from './bulk-work.ts';
import { ImportColumns } from './import-columns.tsx';
import { ImportDrop } from './import-drop.tsx';
import { guessMapping, type ImportFile } from './import-file.ts';
import { ImportResult } from './import-result.tsx';
import { importWords } from './import-words.ts';
import { type ImportSettings, useImport } from './use-import.ts';

const route = getRouteApi('/signed-in/shell/w/$workspaceId/devices/import');

export function ImportDevices() {
  const words = useWords(importWords);
  const { workspaceId } = route.useParams();
  const customFields = useCustomFields(workspaceId);
  const work = useBulkWork();
  const importing = useImport(work);
  const [file, setFile] = useState<ImportFile>();
  const [settings, setSettings] = useState<ImportSettings>();
  const choose = (chosen: ImportFile | undefined) => {
    importing.forget();
    setFile(chosen);
    const mapping = guessMapping(chosen?.columns ?? [], customFields);
    setSettings({ workspaceId, mode: 'create', mapping, defaults: {} });
  };
  const devices = (
    <Link to="/w/$workspaceId/devices" params={{ workspaceId }} search={{}}>
      {words.devices}
    </Link>
  );
  return (
    <Page title={words.title} name={words.title} path={[devices, words.title]}>
      {file === undefined || settings === undefined ? (
        <ImportDrop workspaceId={workspaceId} choose={choose} />
      ) : (
        <>
          <ImportColumns
            file={file}
            settings={settings}
            change={setSettings}
            customFields={customFields}
            importing={importing}
            another={() => choose(undefined)}
          />
          <ImportResult file={file} settings={settings} importing={importing} work={work} />
        </>
      )}
      {work.failed.length > 0 && <FailedDialog work={work} />}
    </Page>
  );
}

function useCustomFields(workspaceId: string): readonly string[] {
  const fields = useQuery(customFieldsOf(workspaceId));
  return fields.data?.content.map(({ name }) => name) ?? [];
}

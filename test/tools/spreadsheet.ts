/**
 * LibreOffice Calc without a window. Nobody is there to ask, so it reads from the network only for a document in a trusted
 * folder, which a macro opens.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from './run-tool.ts';

const MACRO = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE script:module PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "module.dtd">
<script:module xmlns:script="http://openoffice.org/2000/script" script:name="Show" script:language="StarBasic">
Sub Main(source, target)
  Dim opening(1) As New com.sun.star.beans.PropertyValue
  opening(0).Name = "UpdateDocMode" : opening(0).Value = com.sun.star.document.UpdateDocMode.FULL_UPDATE
  opening(1).Name = "Hidden" : opening(1).Value = True
  shown = StarDesktop.loadComponentFromURL(ConvertToURL(source), "_blank", 0, opening())
  shown.calculateAll()
  Dim storing(0) As New com.sun.star.beans.PropertyValue
  storing(0).Name = "FilterName" : storing(0).Value = "Text - txt - csv (StarCalc)"
  shown.storeToURL(ConvertToURL(target), storing())
  shown.close(True)
End Sub
</script:module>
`;
const LIBRARY = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE library:library PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "library.dtd">
<library:library xmlns:library="http://openoffice.org/2000/library" library:name="Standard" library:readonly="false"
  library:passwordprotected="false"><library:element library:name="Show"/></library:library>
`;
const LIBRARIES = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE library:libraries PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "libraries.dtd">
<library:libraries xmlns:library="http://openoffice.org/2000/library" xmlns:xlink="http://www.w3.org/1999/xlink">
<library:library library:name="Standard" xlink:href="$(USER)/basic/Standard/script.xlb/" xlink:type="simple"
  library:link="false"/></library:libraries>
`;

const settings = (trusted: string) => `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="SecureURL" oor:op="fuse">
<value><it>file://${trusted}</it></value></prop></item></oor:items>
`;

/** The values of the first sheet of a document, with all formulas worked out, as CSV. `folder` is for its own files. */
export async function valuesOfSpreadsheet(document: string, folder: string): Promise<string> {
  const user = join(folder, '.config/libreoffice/4/user');
  const basic = join(user, 'basic');
  const office = async (argument: string) => {
    const { exitCode, output } = await runTool('soffice', ['--headless', '--norestore', argument], {
      cwd: folder,
      env: { HOME: folder },
    });
    if (exitCode !== 0) throw new Error(`soffice ended with ${exitCode}: ${output}`);
  };
  mkdirSync(user, { recursive: true });
  writeFileSync(join(user, 'registrymodifications.xcu'), settings(folder));
  // The first start makes the other files of the user.
  await office('--terminate_after_init');
  writeFileSync(join(basic, 'script.xlc'), LIBRARIES);
  writeFileSync(join(basic, 'Standard/script.xlb'), LIBRARY);
  writeFileSync(join(basic, 'Standard/Show.xba'), MACRO);
  const target = join(folder, 'values.csv');
  await office(`macro:///Standard.Show.Main("${document}","${target}")`);
  return readFileSync(target, 'utf8');
}

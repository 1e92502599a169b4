/** Prints, as JSON, what Jayway's JSONPath selects in a file: java -cp 'jars/*' Select.java FILE SELECTOR */
import com.jayway.jsonpath.JsonPath;
import java.io.File;
import net.minidev.json.JSONValue;

class Select {
    public static void main(String[] words) throws Exception {
        System.out.println(JSONValue.toJSONString((Object) JsonPath.parse(new File(words[0])).read(words[1])));
    }
}

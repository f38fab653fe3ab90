"""Where the program `tvms` is."""
import os
import shutil
import sysconfig


def find_program():
    """The program of this installation, else the one on the PATH. FileNotFoundError: there is none."""
    schemes = ["scripts"] if not hasattr(sysconfig, "get_preferred_scheme") else [None]
    folders = [sysconfig.get_path("scripts")]
    if schemes[0] is None:
        folders.append(sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")))
    # `pip install --target FOLDER` puts programs into FOLDER/bin.
    folders.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"))
    for folder in folders:
        path = os.path.join(folder, "tvms")
        if os.path.isfile(path):
            return path
    path = shutil.which("tvms")
    if not path:
        raise FileNotFoundError("the program tvms is neither beside this Python nor on the PATH")
    return path
